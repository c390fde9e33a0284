// What gVisor is going to do for a request, from the same plan that the linux backend makes: what
// of it differs, what it cannot do, and what holds.
#pragma once

#include "backend/gvisor/oci_bundle.h"
#include "backend/gvisor/runsc.h"
#include "backend/linux/cgroup.h"
#include "cordon/error.h"
#include "cordon/plan.h"
#include "cordon/request.h"
#include "plan/sandbox_plan.h"

namespace cordon::gvisor_backend {

// Of each process limit, host threads that are gVisor's own are counted with the program's: so many
// for a sandbox, and so many for each thread of the program.
inline constexpr std::uint64_t kThreadsOfGvisor = 64;
inline constexpr std::uint64_t kThreadsEach = 2;
[[nodiscard]] constexpr std::uint64_t threads_for(std::uint64_t processes) {
  return (processes * kThreadsEach) + kThreadsOfGvisor;
}

// What is asked for and this backend does not do. Errors: unsupported, naming the field.
[[nodiscard]] Result<void> check_request(const Request& request);

// What this host can do, with groups below `groups` (null: none, because of `why`).
[[nodiscard]] plan::HostCapabilities host_of(const linux_backend::CgroupParent* groups,
                                             const std::string& why);

// Errors: as of check_request() and plan::make_sandbox_plan().
[[nodiscard]] Result<plan::SandboxPlan> make_plan(const Request& request, const Limits& limits,
                                                  const plan::HostCapabilities& host,
                                                  const Runsc& runsc);
// The same, to be read.
[[nodiscard]] Plan describe(const plan::SandboxPlan& plan, const Runsc& runsc);

// The ids of the program inside.
[[nodiscard]] User user_inside(const plan::SandboxPlan& plan, const Runsc& runsc);

// The bundle for it; what of the views the host does not have is left out. Errors: as of
// linux_backend::open_views() and check_places().
[[nodiscard]] Result<Bundle> make_bundle(const plan::SandboxPlan& plan, const Request& request,
                                         const Runsc& runsc);

}  // namespace cordon::gvisor_backend
