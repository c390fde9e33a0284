// Landlock, seccomp, idmapped mounts and privileges: one system call each.
#pragma once

#include "plan/host.h"

namespace cordon::linux_backend {

// Fills in landlock_abi and landlock_why.
void probe_landlock(plan::HostCapabilities& host);
[[nodiscard]] plan::Feature probe_seccomp();
// Whether the caller may give other ids than its own to a user namespace.
[[nodiscard]] bool probe_privileged();
[[nodiscard]] plan::Feature probe_idmapped_mounts(bool privileged);

}  // namespace cordon::linux_backend
