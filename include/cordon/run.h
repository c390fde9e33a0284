// run(): the simple case. Start a program, capture its output, wait, get the Outcome.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cordon/audit.h"
#include "cordon/manager.h"
#include "cordon/outcome.h"
#include "cordon/policy.h"
#include "cordon/request.h"
#include "cordon/workdir.h"

namespace cordon {

inline constexpr std::size_t kDefaultCapture = 1024 * 1024;

// Runs `request` to its end. Streams that the request sends to events are captured into
// `Outcome::out` and `Outcome::err`, `capture` bytes each; what is beyond that is dropped and
// `output_truncated` set. Never fails: what could not be started is the verdict `failed_to_start`
// (or `denied`) with the error, its message beginning "failed to start process" (C23).
[[nodiscard]] Outcome run(Manager& manager, Request request, std::size_t capture = kDefaultCapture);

// What is done around a run.
struct Surroundings {
  std::optional<Policy> policy{};            // none: whatever the caller may do
  std::optional<WorkDirOptions> work_dir{};  // a directory of the run's own, removed afterwards
  std::optional<CollectOptions> collect{};   // out of it, when the program has run
  std::optional<audit::Settings> audit{};    // the record; its policy_digest is filled in
};

// The same, within what the policy allows and with its record: no record, no run. What could not be
// collected or cleaned up is in `Outcome::hint`, for the program has run all the same.
[[nodiscard]] Outcome run(Manager& manager, Request request, const Surroundings& surroundings,
                          std::size_t capture = kDefaultCapture);

// The same with an os_manager() of its own.
[[nodiscard]] Outcome run(Request request);
[[nodiscard]] Outcome run(std::string program, std::vector<std::string> args = {});

}  // namespace cordon
