// cordon explain [ID]: what a recorded run was refused.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon explain". Returns the exit status.
[[nodiscard]] int explain_command(std::vector<std::string> arguments);
[[nodiscard]] std::string explain_help();

}  // namespace cordon::app
