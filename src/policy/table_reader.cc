#include "policy/table_reader.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "cordon/request.h"

namespace cordon::policy {

std::string_view name_of(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::table:
      return "a table";
    case Node::Kind::array:
      return "a list";
    case Node::Kind::text:
      return "a text";
    case Node::Kind::integer:
      return "a whole number";
    case Node::Kind::real:
      return "a fraction";
    case Node::Kind::boolean:
      return "true or false";
    case Node::Kind::other:
      break;
  }
  return "a value of another kind";
}

TableReader::TableReader(const Node& table, std::string name)
    : table_(table), name_(std::move(name)) {
  if (table.kind != Node::Kind::table) wrong_type("", table, "a table");
}

std::string TableReader::full_name(std::string_view name) const {
  if (name.empty()) return name_;
  return base::printable(name_.empty() ? std::string(name) : name_ + "." + std::string(name));
}

void TableReader::wrong(const Place& place, const std::string& what) {
  if (error_) return;
  error_ = base::fail(ErrorCode::invalid_argument, "policy", exactly(place) + ": " + what).error();
}

void TableReader::failed(Error error) {
  if (!error_) error_ = std::move(error);
}

void TableReader::wrong_type(std::string_view name, const Node& value, std::string_view expected) {
  wrong(value.place, full_name(name) + " is " + std::string(name_of(value.kind)) +
                         ", but has to be " + std::string(expected));
}

const Node* TableReader::any(std::string_view name) {
  known_.push_back(name);
  const auto at = std::ranges::find(table_.members, name, &Member::name);
  return at == table_.members.end() ? nullptr : &at->value;
}

const Node* TableReader::find(std::string_view name, Node::Kind kind, std::string_view expected) {
  const Node* value = any(name);
  if (value == nullptr || value->kind == kind) return value;
  wrong_type(name, *value, expected);
  return nullptr;
}

const Node* TableReader::table(std::string_view name) {
  return find(name, Node::Kind::table, "a table");
}

std::optional<Placed<std::string>> TableReader::text(std::string_view name) {
  const Node* value = find(name, Node::Kind::text, "a text");
  if (value == nullptr) return std::nullopt;
  if (value->text.contains('\0'))
    wrong(value->place, full_name(name) + " has a NUL byte: remove it");
  return Placed<std::string>{value->text, value->place};
}

std::optional<Placed<bool>> TableReader::boolean(std::string_view name) {
  const Node* value = find(name, Node::Kind::boolean, "true or false");
  if (value == nullptr) return std::nullopt;
  return Placed<bool>{value->boolean, value->place};
}

std::optional<Placed<std::uint64_t>> TableReader::count(std::string_view name) {
  const Node* value = find(name, Node::Kind::integer, "a whole number");
  if (value == nullptr) return std::nullopt;
  if (value->integer < 0) wrong(value->place, full_name(name) + " is negative: give 0 or more");
  return Placed<std::uint64_t>{static_cast<std::uint64_t>(value->integer), value->place};
}

std::optional<Placed<std::uint64_t>> TableReader::size(std::string_view name) {
  const Node* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (value->kind == Node::Kind::integer) return count(name);
  if (value->kind != Node::Kind::text) {
    wrong_type(name, *value, "a size: a number of bytes, or a text like \"64M\"");
    return std::nullopt;
  }
  const auto bytes = parse_size(value->text);
  if (!bytes) wrong(value->place, full_name(name) + ": " + base::printable(bytes.error().message));
  return Placed<std::uint64_t>{bytes.value_or(0), value->place};
}

std::optional<Placed<Duration>> TableReader::duration(std::string_view name) {
  const Node* value = find(name, Node::Kind::text, "a duration: a text like \"5m\"");
  if (value == nullptr) return std::nullopt;
  const auto time = parse_duration(value->text);
  if (!time) wrong(value->place, full_name(name) + ": " + base::printable(time.error().message));
  return Placed<Duration>{time.value_or(Duration{0}), value->place};
}

std::optional<Placed<Duration>> TableReader::duration_or_none(std::string_view name) {
  const Node* value = any(name);
  if (value != nullptr && value->kind == Node::Kind::text && value->text == "none") {
    return Placed<Duration>{kNoTimeout, value->place};
  }
  return duration(name);
}

std::optional<Placed<Texts>> TableReader::texts(std::string_view name) {
  const Node* value = find(name, Node::Kind::array, "a list of texts");
  if (value == nullptr) return std::nullopt;
  Placed<Texts> list{{}, value->place};
  for (const Node& item : value->items) {
    if (item.kind != Node::Kind::text) {
      wrong(item.place, full_name(name) + " has " + std::string(name_of(item.kind)) +
                            " in it, but has to be a list of texts");
      return std::nullopt;
    }
    if (item.text.contains('\0')) wrong(item.place, full_name(name) + " has a NUL byte: remove it");
    list.value.push_back({item.text, item.place});
  }
  return list;
}

Result<void> TableReader::finish() {
  for (const Member& member : table_.members) {
    if (std::ranges::find(known_, member.name) != known_.end()) continue;
    const std::string_view near = base::nearest(member.name, known_);
    std::string what = "unknown key \"" + base::printable(member.name) + "\"";
    if (!name_.empty()) what += " in " + base::printable(name_);
    if (!near.empty()) {
      what += ": did you mean \"" + std::string(near) + "\"?";
    } else {
      what += ": remove it";
    }
    wrong(member.value.place, what);
  }
  if (error_) return std::unexpected(*error_);
  return {};
}

}  // namespace cordon::policy
