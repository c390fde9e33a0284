// The texts that control files hold: numbers and fields read from them, values written to them.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::linux_backend {

// "4096\n". Empty: not a number ("max").
[[nodiscard]] std::optional<std::uint64_t> number(std::string_view text);
// The number after `key` in lines of "key number".
[[nodiscard]] std::optional<std::uint64_t> field(std::string_view text, std::string_view key);
// Whether `word` is one of the words of a list as in cgroup.controllers.
[[nodiscard]] bool has_word(std::string_view text, std::string_view word);
// Without the white space at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

struct CpuQuota {
  std::uint64_t quota_us = 0;
  std::uint64_t period_us = 0;
};
// The kernel's bounds are a quota of 1 ms and a period of 1 s: small shares need the long period.
[[nodiscard]] CpuQuota cpu_quota(std::uint32_t millicores);
// pids.max refuses numbers above the kernel's own limit of pids, which would limit nothing.
[[nodiscard]] std::string pids_value(std::uint64_t processes);

}  // namespace cordon::linux_backend
