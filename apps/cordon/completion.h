// The verb `completion`: prints the completion script of a shell.
#pragma once

#include <span>
#include <string>

namespace cordon::app {

// `arguments` is what follows "cordon completion". Returns the exit status.
[[nodiscard]] int completion_command(std::span<const std::string> arguments);

}  // namespace cordon::app
