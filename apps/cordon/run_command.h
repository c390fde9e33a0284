// The verb `run`.
#pragma once

#include <string>
#include <vector>

#include "run_options.h"

namespace cordon::app {

// `arguments` is what follows "cordon run". Returns the exit status.
[[nodiscard]] int run_command(std::vector<std::string> arguments);
// The same for what was asked for in another way.
[[nodiscard]] int run_asked(RunOptions options);

}  // namespace cordon::app
