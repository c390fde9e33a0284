// For tests: the policy of seccomp.h once more, built by libseccomp. An independent compiler to
// compare ours with; its filters are four times as long and take more than twice the time to
// attach.
#pragma once

#include <vector>

#include "backend/linux/seccomp.h"

namespace cordon::linux_backend {

// Two filters, to be installed in this order: the allowlist, and the refusals by argument. Within
// one filter of libseccomp an unconditional ALLOW swallows the conditional refusals of the same
// call. Empty: libseccomp failed.
[[nodiscard]] std::vector<BpfProgram> compile_by_libseccomp(const SeccompOptions& options);

}  // namespace cordon::linux_backend
