// `cordon policy check` and `cordon policy explain`.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon policy". Returns the exit status.
[[nodiscard]] int policy_command(std::vector<std::string> arguments);

}  // namespace cordon::app
