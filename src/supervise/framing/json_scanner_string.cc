// JsonScanner's states inside a string: escapes and UTF-8.
#include <string_view>

#include "supervise/framing/json_scanner.h"

namespace cordon::supervise {
namespace {

constexpr std::string_view kShortEscapes = R"("\/bfnrt)";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

JsonScanner::Took JsonScanner::take_string(char c) {
  const auto byte = static_cast<unsigned char>(c);
  switch (state_) {
    case State::utf8:
      if (byte < utf8_low_ || byte > utf8_high_) return Took::refused;
      utf8_low_ = 0x80;
      utf8_high_ = 0xBF;
      return --utf8_left_ == 0 ? go(State::string) : Took::byte;
    case State::low_surrogate:
      return c == '\\' ? go(State::escape) : Took::refused;
    case State::escape:
      if (c == 'u') {
        hex_ = 0;
        hex_digits_ = 0;
        return go(State::hex);
      }
      if (low_half_ || !kShortEscapes.contains(c)) return Took::refused;
      return go(State::string);
    case State::hex:
      return take_hex(c);
    default:
      break;
  }
  if (c == '"') return in_key_ ? go(State::colon) : end_value();
  if (c == '\\') return go(State::escape);
  if (byte >= 0x80) return begin_utf8(byte);
  return byte < 0x20 ? Took::refused : Took::byte;
}

// The table 3-7 of the Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF.
JsonScanner::Took JsonScanner::begin_utf8(unsigned char c) {
  if (c < 0xC2 || c > 0xF4) return Took::refused;
  utf8_left_ = c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
  utf8_low_ = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
  utf8_high_ = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
  return go(State::utf8);
}

JsonScanner::Took JsonScanner::take_hex(char c) {
  const int value = hex_value(c);
  if (value < 0) return Took::refused;
  hex_ = static_cast<std::uint16_t>(hex_ << 4 | value);
  if (++hex_digits_ < 4) return Took::byte;
  const bool high = hex_ >= 0xD800 && hex_ <= 0xDBFF;
  const bool low = hex_ >= 0xDC00 && hex_ <= 0xDFFF;
  if (low != low_half_) return Took::refused;
  low_half_ = high;
  return go(high ? State::low_surrogate : State::string);
}

}  // namespace cordon::supervise
