// The supervisor's answer to a system call of an explained run: what the ordinary filter would have
// said, found by running that very filter over the same data. So a report decides nothing. Pure.
#pragma once

#include <linux/seccomp.h>

#include <vector>

#include "backend/linux/seccomp.h"
#include "cordon/outcome.h"

namespace cordon::linux_backend {

// 0: the call may go on. Else the errno it fails with. Whatever is not a plain "allow" of a filter
// that the kernel would have accepted fails.
[[nodiscard]] int reply_to(const std::vector<BpfProgram>& ordinary, const seccomp_data& call);

// For a call whose reply is not 0.
[[nodiscard]] Denial refused_call(const seccomp_data& call);

}  // namespace cordon::linux_backend
