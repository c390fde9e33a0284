// cordon batch FILE: many requests, each in a sandbox of its own.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon batch". Returns the exit status.
[[nodiscard]] int batch_command(std::vector<std::string> arguments);
[[nodiscard]] std::string batch_help();

}  // namespace cordon::app
