// The system calls a sandboxed program may make: an allowlist with checks of arguments, compiled to
// classic BPF. Pure: nothing is installed here, and no system call is made.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "cordon/error.h"

namespace cordon::linux_backend {

struct SeccompOptions {
  bool unix_sockets = true;  // false: socket(AF_UNIX) is refused, socketpair() is not
  // For a run that is to be explained: what is refused, and what names files or addresses, asks the
  // supervisor. Its answer is that of the same options without this one (explain_reply.h).
  bool explain = false;
  // For the process of a sandbox that makes others: may give its children to its own parent.
  bool nursery = false;
  bool operator==(const SeccompOptions&) const = default;
};

using BpfProgram = std::vector<sock_filter>;

// To be installed in this order, each on top of the one before: the kernel takes the strictest
// answer of all. (At present it is one.) Error: system.
[[nodiscard]] Result<std::vector<BpfProgram>> compile_seccomp(const SeccompOptions& options);

}  // namespace cordon::linux_backend
