// From what is known about the end of a run to its Outcome. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cordon/limits.h"
#include "cordon/outcome.h"

namespace cordon::outcome {

// Everything a backend knows when a run has ended.
struct Ending {
  std::uint64_t id = 0;
  std::string backend;
  Enforcement enforcement;

  // What Cordon itself did first to end the run: timeout, cpu_time, memory, processes, output or
  // cancelled. Wins over everything the program did afterwards.
  std::optional<Verdict> first_action;
  std::string evidence;  // for first_action: what was seen, e.g. "memory.events oom_kill +1"

  // What the kernel ended the run for, by its own counters.
  std::optional<Verdict> ended_by;
  std::string kernel_evidence;

  int exit_code = 0;
  int signal = 0;  // 0: exited with exit_code
  // The caller's process reaped the program behind our back: neither of the two is known.
  bool status_lost = false;

  Duration wall{0};
  Usage usage;
  std::uint64_t output_bytes = 0;
  bool output_truncated = false;

  Duration timeout{0};
  Limits limits;
  std::vector<LimitHit> limits_hit;
  std::vector<Denial> denials;
  std::uint64_t denials_omitted = 0;
  Launch launch = Launch::cold;
  std::string launch_note;
};

[[nodiscard]] Outcome decide(const Ending& ending);

// The program never ran. not_permitted without an errno makes the verdict `denied`.
[[nodiscard]] Outcome failed_to_start(std::uint64_t id, std::string backend,
                                      Enforcement enforcement, Error error);

}  // namespace cordon::outcome
