// What every sandboxed program sees, whatever it asks for: the system's programs and libraries,
// read-only, the few files of /etc that they need, and private places to write to. Pure.
#pragma once

#include <vector>

#include "plan/sandbox_plan.h"

namespace cordon::plan {

// In the order of mounting. The root itself, a read-only tmpfs, is not listed.
[[nodiscard]] std::vector<View> default_view(const Identity& identity, Network network,
                                             const Limits& limits);

}  // namespace cordon::plan
