// cordon sandbox create|exec|connect|ps|cp|checkpoint|restore|stop|rm|ls|logs: sandboxes that live
// longer than one program.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon sandbox". Returns the exit status.
[[nodiscard]] int sandbox_command(std::vector<std::string> arguments);
[[nodiscard]] std::string sandbox_help();

}  // namespace cordon::app
