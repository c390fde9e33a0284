// Limits of the program's own process, set and verified from outside while it is parked.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "backend/posix/child_side.h"
#include "cordon/error.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

struct ProgramLimits {
  std::vector<posix::RlimitSetting> now;
  // Those that the process could not be given its descriptors under: it sets them itself when it
  // has them.
  std::vector<posix::RlimitSetting> later;
};

// `descriptors` is the number behind the last one that the program is given.
[[nodiscard]] ProgramLimits program_limits(const plan::SandboxPlan& plan, int descriptors);

// Errors: limit_not_applied, with the limit's name as its stage.
[[nodiscard]] Result<void> set_limits(pid_t program,
                                      const std::vector<posix::RlimitSetting>& limits);

}  // namespace cordon::linux_backend
