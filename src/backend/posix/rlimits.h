// Limits that the kernel keeps for each process.
#pragma once

#include <span>
#include <string_view>

#include "backend/posix/child_side.h"
#include "cordon/limits.h"

namespace cordon::posix {

// Fills `out` with what `limits` asks for, never above what the caller itself is limited to.
// Returns how many.
[[nodiscard]] std::size_t rlimits_for(const Limits& limits, std::span<RlimitSetting> out);

// For a program that was given secrets. 1 is the limit that also keeps the kernel from piping a
// dump to a program of the host.
[[nodiscard]] RlimitSetting no_core_dump();

// "memory" for RLIMIT_DATA …
[[nodiscard]] std::string_view limit_name(int resource);

}  // namespace cordon::posix
