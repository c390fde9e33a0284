#include "mcp/source/json_reader.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/errors.h"
#include "base/printable.h"
#include "mcp/json_view.h"

namespace cordon::mcp {
namespace json = boost::json;

namespace {
constexpr JsonLimits kLimits{.max_bytes = std::size_t{4} << 20, .max_depth = 32};
}  // namespace

std::string place_of(const JsonAt& at, std::string_view key) {
  return at.place.empty() ? std::string(key) : at.place + "." + std::string(key);
}

std::optional<JsonAt> JsonReader::whole(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // some editors write it
  const auto checked = check_json(text, kLimits);
  if (!checked) {
    wrong("", "is not JSON as it should be: " + checked.error());
    return std::nullopt;
  }
  json::error_code error;
  value_ = json::parse(*checked, error);
  if (error || !value_.is_object()) {
    wrong("", "is not a JSON object");
    return std::nullopt;
  }
  return JsonAt{.object = &value_.get_object()};
}

std::optional<std::string> JsonReader::text(const JsonAt& at, std::string_view key) {
  const json::value* const found = at.object->if_contains(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_string()) {
    wrong(place_of(at, key), "is no string");
    return std::nullopt;
  }
  std::string text(found->get_string());
  if (text.contains('\0')) wrong(place_of(at, key), "has a NUL character in it");
  return text;
}

std::string JsonReader::required(const JsonAt& at, std::string_view key) {
  auto found = text(at, key);
  if (found && !found->empty()) return *std::move(found);
  wrong(place_of(at, key), "is missing or empty");
  return {};
}

bool JsonReader::flag(const JsonAt& at, std::string_view key) {
  const json::value* const found = at.object->if_contains(key);
  if (found == nullptr) return false;
  if (!found->is_bool()) {
    wrong(place_of(at, key), "is neither true nor false");
    return false;
  }
  return found->get_bool();
}

std::optional<double> JsonReader::number(const JsonAt& at, std::string_view key) {
  const json::value* const found = at.object->if_contains(key);
  if (found == nullptr) return std::nullopt;
  json::error_code error;
  const auto value = found->to_number<double>(error);
  if (!error) return value;
  wrong(place_of(at, key), "is no number");
  return std::nullopt;
}

std::vector<std::string> JsonReader::texts(const JsonAt& at, std::string_view key) {
  const json::value* const found = at.object->if_contains(key);
  if (found == nullptr) return {};
  std::vector<std::string> all;
  if (!found->is_array()) {
    wrong(place_of(at, key), "is no array");
    return all;
  }
  for (const json::value& each : found->get_array()) {
    const std::string place = place_of(at, key) + "[" + std::to_string(all.size()) + "]";
    if (!each.is_string()) {
      wrong(place, "is no string");
      return all;
    }
    all.emplace_back(each.get_string());
    if (all.back().contains('\0')) wrong(place, "has a NUL character in it");
  }
  return all;
}

std::optional<JsonAt> JsonReader::object(const JsonAt& at, std::string_view key) {
  const json::value* const found = at.object->if_contains(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_object()) return JsonAt{.object = &found->get_object(), .place = place_of(at, key)};
  wrong(place_of(at, key), "is no object");
  return std::nullopt;
}

std::vector<JsonAt> JsonReader::objects(const JsonAt& at, std::string_view key) {
  const json::value* const found = at.object->if_contains(key);
  if (found == nullptr) return {};
  std::vector<JsonAt> all;
  if (!found->is_array()) {
    wrong(place_of(at, key), "is no array");
    return all;
  }
  for (const json::value& each : found->get_array()) {
    std::string place = place_of(at, key) + "[" + std::to_string(all.size()) + "]";
    if (!each.is_object()) {
      wrong(place, "is no object");
      return all;
    }
    all.push_back({.object = &each.get_object(), .place = std::move(place)});
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> JsonReader::text_members(const JsonAt& at,
                                                                          std::string_view key) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto found = object(at, key);
  if (!found) return all;
  for (const auto& [name, value] : *found->object) {
    if (auto value_text = text(*found, name)) all.emplace_back(name, *std::move(value_text));
  }
  return all;
}

std::optional<std::string> JsonReader::plain(const json::value& value, std::string_view place) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_bool() || value.is_number()) return json::serialize(value);
  wrong(place, "is neither a string nor a number nor true or false");
  return std::nullopt;
}

std::optional<std::vector<std::string>> JsonReader::scalars(const JsonAt& at,
                                                            std::string_view key) {
  const json::value* const found = at.object->if_contains(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  std::vector<std::string> all;
  if (!found->is_array()) {
    if (auto one = plain(*found, place_of(at, key))) all.push_back(*std::move(one));
    return all;
  }
  for (const json::value& each : found->get_array()) {
    if (auto one = plain(each, place_of(at, key))) all.push_back(*std::move(one));
  }
  return all;
}

void JsonReader::wrong(std::string_view place, std::string_view what, ErrorCode code) {
  if (error_) return;
  std::string message = base::printable(file_);
  if (!place.empty()) message += ": " + base::printable(place);
  error_ = base::fail(code, stage_, message + " " + std::string(what)).error();
}

Result<void> JsonReader::finish() const {
  if (error_) return std::unexpected(*error_);
  return {};
}

}  // namespace cordon::mcp
