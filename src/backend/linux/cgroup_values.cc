#include "backend/linux/cgroup_values.h"

#include <algorithm>
#include <charconv>

namespace cordon::linux_backend {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::optional<std::uint64_t> number(std::string_view text) {
  text = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
      return number(line.substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

bool has_word(std::string_view text, std::string_view word) {
  while (!(text = trimmed(text)).empty()) {
    const auto end = std::min(text.find_first_of(" \t\n"), text.size());
    if (text.substr(0, end) == word) return true;
    text.remove_prefix(end);
  }
  return false;
}

CpuQuota cpu_quota(std::uint32_t millicores) {
  const std::uint64_t share = std::max<std::uint64_t>(millicores, 1);
  const std::uint64_t period = share < 10 ? 1'000'000 : 100'000;
  return {.quota_us = share * period / 1000, .period_us = period};
}

std::string pids_value(std::uint64_t processes) {
  constexpr std::uint64_t kKernelLimit = 4ULL * 1024 * 1024;
  return processes > kKernelLimit ? "max" : std::to_string(processes);
}

}  // namespace cordon::linux_backend
