// Text from parts. Where nothing has to be formatted this compiles in a fraction of the time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cordon::app {

template <typename... Parts>
[[nodiscard]] std::string concat(const Parts&... parts) {
  std::string text;
  (text.append(std::string_view(parts)), ...);
  return text;
}

// "a, b, c".
[[nodiscard]] inline std::string comma_separated(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace cordon::app
