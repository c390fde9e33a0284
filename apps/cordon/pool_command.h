// The verb `pool`.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

[[nodiscard]] std::string pool_help();
// `arguments` is what follows "cordon pool". Returns the exit status.
[[nodiscard]] int pool_command(std::vector<std::string> arguments);

}  // namespace cordon::app
