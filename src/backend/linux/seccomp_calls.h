// The system calls that a sandboxed program may make on x86_64. What is not listed does not exist
// for it (ENOSYS). Conditions on arguments are in seccomp.cc.
#pragma once

#include <span>

namespace cordon::linux_backend {

// Newer than the headers of Debian 12.
inline constexpr int kFchmodat2 = 452;

// Their numbers, each once, in no order.
[[nodiscard]] std::span<const int> allowed_calls();

}  // namespace cordon::linux_backend
