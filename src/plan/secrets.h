// The place of a run's secrets in its plan.
#pragma once

#include "cordon/error.h"
#include "cordon/request.h"
#include "plan/sandbox_plan.h"

namespace cordon::plan {

// Adds the names of `request`'s secrets to `plan`, and the directory for those that are delivered
// as files. Error: invalid_argument, if a grant lies there.
[[nodiscard]] Result<void> add_secrets(const Request& request, SandboxPlan& plan);

}  // namespace cordon::plan
