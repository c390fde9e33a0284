#include "base/printable.h"

#include <cstddef>
#include <cstdint>

#include "base/utf8.h"

namespace cordon::base {
namespace {

// How many bytes of `text` are one well-formed character; 0: none.
std::size_t character(std::string_view text) {
  constexpr std::size_t kLongest = 4;
  for (std::size_t size = 1; size <= kLongest && size <= text.size(); ++size) {
    if (is_utf8(text.substr(0, size))) return size;
  }
  return 0;
}

bool is_control(std::string_view one) {
  const auto first = static_cast<std::uint8_t>(one[0]);
  if (one.size() == 1) return first < 0x20 || first == 0x7f;
  // U+0080 to U+009F; and the marks that reorder text, U+202A to U+202E and U+2066 to U+2069.
  if (one.size() == 2) return first == 0xc2 && static_cast<std::uint8_t>(one[1]) < 0xa0;
  return (one >= "\xe2\x80\xaa" && one <= "\xe2\x80\xae") ||
         (one >= "\xe2\x81\xa6" && one <= "\xe2\x81\xa9");
}

void escape(std::string& to, char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (byte == '\n') {
    to += "\\n";
  } else if (byte == '\t') {
    to += "\\t";
  } else {
    const auto value = static_cast<std::uint8_t>(byte);
    to += "\\x";
    to += kDigits[value >> 4];
    to += kDigits[value & 15];
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = character(text);
    const std::string_view one = text.substr(0, size == 0 ? 1 : size);
    if (size == 0 || is_control(one)) {
      for (const char byte : one) escape(safe, byte);
    } else {
      safe += one;
    }
    text.remove_prefix(one.size());
  }
  return safe;
}

}  // namespace cordon::base
