// The verbs of `cordon audit`, one file each. `arguments` is what follows the verb; the result is
// the exit status.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

[[nodiscard]] int audit_show(std::vector<std::string> arguments);
[[nodiscard]] int audit_verify(std::vector<std::string> arguments);

inline constexpr const char* kAuditHelp = "cordon audit --help";

}  // namespace cordon::app
