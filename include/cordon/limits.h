// What a program may use at most. Plain data.
//
// A field that is not set asks for nothing: the Manager's default limits apply, and without those
// the OS's. How strictly a backend keeps each of them is told by `Manager::capabilities()`.
#pragma once

#include <cstdint>
#include <optional>

#include "cordon/clock.h"
#include "cordon/error.h"

namespace cordon {

struct Limits {
  std::optional<Duration> cpu_time{};              // processor time, not wall-clock time
  std::optional<std::uint32_t> cpu_millicores{};   // share of the processors; 1000 = one core
  std::optional<std::uint64_t> memory_bytes{};     // memory in use
  std::optional<std::uint64_t> file_size_bytes{};  // size of any one file it writes
  std::optional<std::uint64_t> open_files{};       // file descriptors in one process
  std::optional<std::uint64_t> processes{};        // processes and threads alive at once
  std::optional<std::uint64_t> output_bytes{};     // stdout and stderr together; more ends the run

  friend bool operator==(const Limits&, const Limits&) = default;
};

// For `cpu_millicores`: per cent of one core (C136).
constexpr std::uint32_t cpu_percent(std::uint32_t percent) { return percent * 10; }

// `asked` with every unset field taken from `defaults`.
[[nodiscard]] Limits with_defaults(const Limits& asked, const Limits& defaults);

// Refuses limits no program could start under (zero) and values the OS cannot express.
[[nodiscard]] Result<void> validate(const Limits& limits);

}  // namespace cordon
