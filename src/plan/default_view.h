// What every sandboxed program sees, whatever it asks for: the system's programs and libraries,
// read-only, the few files of /etc that they need, and private places to write to. Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plan/sandbox_plan.h"

namespace cordon::plan {

// In the order of mounting. The root itself, a read-only tmpfs, is not listed.
[[nodiscard]] std::vector<View> default_view(const Identity& identity, Network network,
                                             const Limits& limits);

// The directories of the system, bound read-only. Never writable, by no grant.
[[nodiscard]] std::span<const std::string_view> system_directories();

}  // namespace cordon::plan
