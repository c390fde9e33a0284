// What a program in a long-lived sandbox may ask for, and the plan of its run. Pure.
#pragma once

#include "backend/linux/plan_cache.h"
#include "cordon/error.h"
#include "cordon/request.h"
#include "plan/host.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

// For the main program. Error: unsupported, for what only a one-shot run can have.
[[nodiscard]] Result<void> check_main(const Request& request);

// Not more than the sandbox of `main` has: grants, network, user and variables of the caller are
// the sandbox's, and a field that has its default value asks for nothing. `limits` are the
// request's with the defaults filled in. Errors: not_permitted, naming the field; unsupported.
[[nodiscard]] Result<void> check_inside(const Request& request, const Limits& limits,
                                        const Request& main);

// `whole` is the plan of the sandbox. Error: invalid_argument, for a relative working directory.
[[nodiscard]] Result<SharedPlan> plan_inside(const plan::SandboxPlan& whole, const Request& request,
                                             const Limits& limits, bool is_main,
                                             const plan::HostCapabilities& host);

}  // namespace cordon::linux_backend
