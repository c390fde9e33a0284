// Looking into JSON without building anything: a value is its exact text, so that what is passed on
// is passed on as it came.
//
// check_json() judges; everything else here takes text that it has found right. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::mcp {

struct JsonLimits {
  std::size_t max_bytes = std::size_t{4} << 20;
  std::uint16_t max_depth = 64;
};

// One value and nothing else: its text without the space around it. Strict RFC 8259 as in
// supervise/framing/json_scanner.h, and no object has a name twice: two readers could take
// different ones for the right one. Error: what is wrong, for a person.
[[nodiscard]] std::expected<std::string_view, std::string> check_json(std::string_view text,
                                                                      const JsonLimits& limits);

[[nodiscard]] constexpr bool is_object(std::string_view value) { return value.starts_with('{'); }
[[nodiscard]] constexpr bool is_array(std::string_view value) { return value.starts_with('['); }
[[nodiscard]] constexpr bool is_string(std::string_view value) { return value.starts_with('"'); }
[[nodiscard]] constexpr bool is_null(std::string_view value) { return value == "null"; }
// A number without fraction or exponent.
[[nodiscard]] bool is_integer(std::string_view value);

// What a string says.
[[nodiscard]] std::string unescaped(std::string_view string);

struct Member {
  std::string name;
  std::string_view value;
};

// The members of an object, one after the other.
class Members {
 public:
  explicit Members(std::string_view object) : rest_(object.substr(1)) {}
  [[nodiscard]] std::optional<Member> next();

 private:
  std::string_view rest_;
};

// The elements of an array, one after the other.
class Elements {
 public:
  explicit Elements(std::string_view array) : rest_(array.substr(1)) {}
  [[nodiscard]] std::optional<std::string_view> next();

 private:
  std::string_view rest_;
};

// Nothing if the value is no object, or has no such member.
[[nodiscard]] std::optional<std::string_view> member(std::string_view value, std::string_view name);
// … or if that is no string.
[[nodiscard]] std::optional<std::string> string_member(std::string_view value,
                                                       std::string_view name);

}  // namespace cordon::mcp
