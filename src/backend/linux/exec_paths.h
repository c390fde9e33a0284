// Where a program is looked for inside the sandbox, and why it was not found there.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cordon/error.h"
#include "cordon/request.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

// A name with a slash as it is; another in each directory of the PATH in `environment`, in order.
[[nodiscard]] std::vector<std::string> exec_paths(const std::string& program,
                                                  std::span<const std::string> environment);

// The path on the host of what the sandbox shows at `inside`; empty if it shows nothing of the
// host there. Pure.
[[nodiscard]] std::string host_path(const std::vector<plan::View>& views,
                                    const std::string& inside);

// The one of exec_paths() that would be executed, as far as that can be told from outside. Errors:
// those of explain_not_executed().
[[nodiscard]] Result<std::string> find_inside(const Request& request,
                                              const plan::SandboxPlan& plan);

// For a person: what the kernel's errno means here. Errors: not_found, not_executable,
// not_permitted (it is there on the host, but not in the sandbox) …
[[nodiscard]] Error explain_not_executed(const Request& request, const plan::SandboxPlan& plan,
                                         int os_error);

}  // namespace cordon::linux_backend
