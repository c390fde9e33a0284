// The verb `plan`: what `run` would do, without doing it.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon plan". Returns the exit status.
[[nodiscard]] int plan_command(std::vector<std::string> arguments);

}  // namespace cordon::app
