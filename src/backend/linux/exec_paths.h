// Where a program is looked for inside the sandbox, and why it was not found there.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/linux/views.h"
#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon::linux_backend {

// A name with a slash as it is; another in each directory of the PATH in `environment`, in order.
[[nodiscard]] std::vector<std::string> exec_paths(const std::string& program,
                                                  std::span<const std::string> environment);

// The path on the host of what the sandbox shows at `inside`; empty if it shows nothing of the
// host there. Pure.
[[nodiscard]] std::string host_path(const std::vector<OpenView>& views, const std::string& inside);

// For a person: what the kernel's errno means here. Errors: not_found, not_executable …
[[nodiscard]] Error explain_not_executed(const Request& request, const std::string& cwd,
                                         const std::vector<OpenView>& views, int os_error);

}  // namespace cordon::linux_backend
