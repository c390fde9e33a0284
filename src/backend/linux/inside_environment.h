// The environment as it makes sense inside a sandbox.
#pragma once

#include <string>
#include <vector>

#include "cordon/request.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

// `environment` ("NAME=value" entries, made for `request`), in which HOME and TMPDIR are /tmp if
// they were only passed on and the sandbox has no such directory: programs that keep files there
// would fail. HOME stays if the request grants something in it. Pure.
[[nodiscard]] std::vector<std::string> inside_environment(std::vector<std::string> environment,
                                                          const Request& request,
                                                          const plan::SandboxPlan& plan);

}  // namespace cordon::linux_backend
