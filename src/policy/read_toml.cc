#include "policy/read_toml.h"

#include <exception>
#include <stdexcept>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "policy/toml_scan.h"

namespace cordon::policy {
namespace {

constexpr void assume(bool holds) {
  if (!holds) throw std::logic_error("its structure is broken");
}

}  // namespace
}  // namespace cordon::policy

// What the parser assumes about itself does not hold for some malformed texts ("[[[= 1"). It would
// abort, or with NDEBUG go on regardless: here it is an error like any other, in every build.
#ifdef NDEBUG
#undef NDEBUG
#endif
#define TOML_ASSERT(expr) ::cordon::policy::assume(static_cast<bool>(expr))
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace cordon::policy {
namespace {

Place place_of(const toml::source_region& region, const std::string& file) {
  return {.file = file, .line = region.begin.line, .column = region.begin.column};
}

Node convert(const toml::node& from, const std::string& file);

Node convert_table(const toml::table& table, const std::string& file) {
  Node node{.kind = Node::Kind::table};
  for (const auto& [key, value] : table) {
    Node converted = convert(value, file);
    // Where the key is: a table that begins on a later line has its name there.
    const Place named = place_of(key.source(), file);
    if (named.line > 0) converted.place = named;
    node.members.push_back({from_ascii(key.str()), std::move(converted)});
  }
  return node;
}

Node convert(const toml::node& from, const std::string& file) {
  Node node;
  if (const toml::table* table = from.as_table()) {
    node = convert_table(*table, file);
  } else if (const toml::array* array = from.as_array()) {
    node.kind = Node::Kind::array;
    for (const toml::node& item : *array) node.items.push_back(convert(item, file));
  } else if (const auto* text = from.as_string()) {
    node.kind = Node::Kind::text;
    node.text = from_ascii(text->get());
  } else if (const auto* integer = from.as_integer()) {
    node.kind = Node::Kind::integer;
    node.integer = integer->get();
  } else if (const auto* real = from.as_floating_point()) {
    node.kind = Node::Kind::real;
    node.real = real->get();
  } else if (const auto* boolean = from.as_boolean()) {
    node.kind = Node::Kind::boolean;
    node.boolean = boolean->get();
  } else {
    node.kind = Node::Kind::other;
  }
  node.place = place_of(from.source(), file);
  return node;
}

}  // namespace

Result<Node> read_toml(std::string_view text, const std::string& file) try {
  if (text.size() > kMostBytes) {
    return base::fail(ErrorCode::invalid_argument, "policy",
                      to_string({.file = file}) + " is larger than 1M: make it smaller");
  }
  const auto ascii = toml_in_ascii(text, file);
  if (!ascii) return std::unexpected(ascii.error());
  Node node = convert(toml::parse(*ascii), file);
  node.place = {.file = file};
  return node;
} catch (const toml::parse_error& error) {
  return base::fail(ErrorCode::invalid_argument, "policy",
                    exactly(place_of(error.source(), file)) +
                        ": this is not TOML: " + base::printable(from_ascii(error.description())));
} catch (const std::exception& error) {
  return base::fail(
      ErrorCode::invalid_argument, "policy",
      to_string({.file = file}) + ": this is not TOML: " + base::printable(error.what()));
}

}  // namespace cordon::policy
