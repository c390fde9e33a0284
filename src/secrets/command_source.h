// A value that a program prints.
#pragma once

#include <string>
#include <vector>

#include "base/locked_bytes.h"
#include "cordon/clock.h"
#include "cordon/error.h"

namespace cordon::secrets {

inline constexpr Duration kCommandTimeout = std::chrono::seconds(10);

// Runs `argv` as the caller, without a shell, with the caller's environment, no input, and its
// stderr thrown away; what it writes to stdout is read as read_secret() does. Errors have no part
// of its output: not_found, not_executable, timed_out, system (it failed) …
[[nodiscard]] Result<base::LockedBytes> read_from_command(const std::vector<std::string>& argv,
                                                          Duration timeout = kCommandTimeout);

}  // namespace cordon::secrets
