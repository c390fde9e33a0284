#include "base/utf8.h"

#include <cstddef>
#include <cstdint>

namespace cordon::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool in_range(std::uint8_t byte, std::uint8_t low, std::uint8_t high) {
  return byte >= low && byte <= high;
}

// The length of the well-formed character that `text`, not empty, begins with, or 0. The second
// byte's range is what rules out overlong forms, surrogates and values that are too large.
std::size_t character(std::string_view text) {
  const auto at = [text](std::size_t i) {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
  };
  const auto tail = [&](std::size_t i) { return in_range(at(i), 0x80, 0xBF); };
  const std::uint8_t lead = at(0);

  if (lead < 0x80) return 1;
  if (in_range(lead, 0xC2, 0xDF)) return tail(1) ? 2 : 0;
  if (in_range(lead, 0xE0, 0xEF)) {
    const std::uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;
    const std::uint8_t high = lead == 0xED ? 0x9F : 0xBF;
    return in_range(at(1), low, high) && tail(2) ? 3 : 0;
  }
  if (in_range(lead, 0xF0, 0xF4)) {
    const std::uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;
    return in_range(at(1), low, high) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

// The length of the longest well-formed beginning of `text`.
std::size_t well_formed(std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const std::size_t length = character(text.substr(done));
    if (length == 0) break;
    done += length;
  }
  return done;
}

}  // namespace

bool is_utf8(std::string_view text) { return well_formed(text) == text.size(); }

std::string to_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t good = well_formed(text);
    result += text.substr(0, good);
    text.remove_prefix(good);
    if (text.empty()) break;
    result += kReplacement;
    text.remove_prefix(1);
  }
  return result;
}

}  // namespace cordon::base
