// What every sandboxed program sees, whatever it asks for: the system's programs and libraries,
// read-only, the few files of /etc that they need, and private places to write to. Pure.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "plan/sandbox_plan.h"

namespace cordon::plan {

// Whatever a root directory has there: the sandbox's own, or never shown.
inline constexpr std::array<std::string_view, 4> kOwnPlaces = {"/proc", "/sys", "/dev", "/tmp"};

// In the order of mounting. The root itself, a read-only tmpfs, is not listed.
[[nodiscard]] std::vector<View> default_view(const Identity& identity, Network network,
                                             const Limits& limits);

// The same where a directory is the root: what is in it in place of the host's system, and the
// sandbox's own /proc, /dev, /tmp. Nothing of `root` is at or below those.
[[nodiscard]] std::vector<View> rooted_view(const RootDirectory& root, const Identity& identity,
                                            Network network, const Limits& limits);

}  // namespace cordon::plan
