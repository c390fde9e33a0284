// Finds the end of one JSON value, or the first byte that cannot belong to one, without building
// anything.
//
// Strict RFC 8259: no comments, no trailing commas, UTF-8 checked, control characters refused in
// strings. Two things the grammar allows are refused, because parsers (Boost.JSON among them)
// refuse them: "\u" escapes that are half a surrogate pair, and exponents of more than nine
// significant digits.
//
// A number or literal at top level has no end of its own. It ends before whitespace, `{`, `[`, `"`,
// or the end of the stream; before anything else it is an error: "nullx", "01", "1,2" and
// "2024-01-31" are not JSON values followed by something, they are not JSON.
//
// One byte at a time, so that the result cannot depend on how the text was split. (Boost.JSON's
// incremental parser was measured and left: after a UTF-8 lead byte it reports an error up to three
// bytes late, perhaps in another line, depending on the split; and it recurses.) Memory: one bit a
// level of nesting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cordon::supervise {

[[nodiscard]] constexpr bool is_json_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

class JsonScanner {
 public:
  explicit JsonScanner(std::size_t max_depth) : max_depth_(max_depth) {}

  enum class Status : std::uint8_t {
    more,   // all consumed; the value goes on, or may go on
    done,   // the value ends with the bytes consumed
    error,  // the byte after those consumed cannot be part of a value
  };
  struct Step {
    std::size_t consumed = 0;
    Status status = Status::more;
  };
  // The next bytes of the value. After `done` or `error` only reset() may follow.
  [[nodiscard]] Step scan(std::string_view text);
  // Would the value be whole if the stream ended here? (After `more`: a number or literal may be.)
  [[nodiscard]] bool complete() const;
  // A new value.
  void reset();

 private:
  enum class State : std::uint8_t {
    value,          // a value must come
    first_element,  // or ']'
    first_key,      // or '}'
    key,
    colon,
    after,  // a value inside a container has ended
    string,
    utf8,  // inside a character of several bytes
    escape,
    hex,
    low_surrogate,  // "\" of the pair's second half must come
    literal,
    minus,
    zero,
    integer,
    point,
    fraction,
    exponent,
    exponent_sign,
    exponent_digits,
    scalar_end,  // a literal at top level is whole
  };
  enum class Took : std::uint8_t { byte, last_byte, nothing, refused };

  Took take(char c);
  Took take_structure(char c);
  Took take_string(char c);
  Took take_number(char c);
  Took begin_value(char c);
  Took begin_literal(const char* rest);
  Took open(bool object);
  Took close();
  Took end_value();
  Took end_scalar(char c);
  Took begin_utf8(unsigned char c);
  Took take_hex(char c);
  Took take_exponent_digit(char c);
  Took go(State next) {
    state_ = next;
    return Took::byte;
  }

  std::size_t max_depth_;
  std::vector<bool> nesting_;  // a level each; true: an object
  State state_ = State::value;
  bool in_key_ = false;
  const char* literal_ = nullptr;  // what is left of "true", "false", "null"
  unsigned char utf8_low_ = 0;     // the next byte of the character must be in this range
  unsigned char utf8_high_ = 0;
  std::uint8_t utf8_left_ = 0;
  bool low_half_ = false;  // the escape must be the second half of a surrogate pair
  std::uint8_t hex_digits_ = 0;
  std::uint16_t hex_ = 0;
  std::uint8_t exponent_size_ = 0;  // without leading zeros
};

}  // namespace cordon::supervise
