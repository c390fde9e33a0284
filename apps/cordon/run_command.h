// The verb `run`.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon run". Returns the exit status.
[[nodiscard]] int run_command(std::vector<std::string> arguments);

}  // namespace cordon::app
