// Starts a child without fork(): the caller's memory is shared, not copied, until exec.
#pragma once

#include <sys/types.h>

#include "backend/posix/child_side.h"
#include "base/fd.h"

namespace cordon::posix {

struct Spawned {
  pid_t pid = -1;
  base::Fd pidfd;  // empty where the kernel has none
};

// Returns once the program has been executed or has failed to be: then plan.failed_step says where,
// and the child is already reaped. pid is -1 if there was no child at all; errno tells why.
[[nodiscard]] Spawned spawn(ChildPlan& plan);

}  // namespace cordon::posix
