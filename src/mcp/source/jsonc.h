// JSON as people edit it: with comments and commas at the end of lists. Gives the place of every
// value, so that a file can be changed in some bytes and in no others. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::mcp {

struct JsoncMember;

struct JsoncNode {
  enum class Kind : std::uint8_t { object, array, string, other };
  Kind kind = Kind::other;
  std::size_t begin = 0;  // of its text in the file
  std::size_t end = 0;
  std::string text{};                // of a string: what it says
  std::vector<JsoncNode> elements;   // of an array
  std::vector<JsoncMember> members;  // of an object; no name twice

  // Null if this is no object, or has none of this name.
  [[nodiscard]] const JsoncMember* member(std::string_view name) const;
};

struct JsoncMember {
  std::string name{};
  std::size_t begin = 0;  // of its name
  JsoncNode value{};
};

// Error: what is wrong and in which line, for a person.
[[nodiscard]] std::expected<JsoncNode, std::string> parse_jsonc(std::string_view text);

}  // namespace cordon::mcp
