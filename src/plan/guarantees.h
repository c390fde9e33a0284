// How well this host keeps each guarantee, and by what. Pure.
#pragma once

#include "plan/sandbox_plan.h"

namespace cordon::plan {

// What control groups, rlimits and looking at the tree each do for the limits: fills `cgroup`,
// `groups`, `rlimit_processes` and the sample_ flags from `plan.limits` and `plan.identity`.
void share_out_limits(SandboxPlan& plan, const HostCapabilities& host);

// For a plan that is otherwise complete.
[[nodiscard]] Enforcement enforcement_of(const SandboxPlan& plan, const HostCapabilities& host);

// "6.18.44-x" ≥ 5.14. A text that is no version is older than everything.
[[nodiscard]] bool kernel_at_least(std::string_view kernel, int major, int minor);

}  // namespace cordon::plan
