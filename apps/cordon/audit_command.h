// cordon audit show|verify.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon audit". Returns the exit status.
[[nodiscard]] int audit_command(std::vector<std::string> arguments);
[[nodiscard]] std::string audit_help();

}  // namespace cordon::app
