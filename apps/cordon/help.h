// The texts of `cordon help` and `cordon run --help`.
#pragma once

#include <string>

namespace cordon::app {

[[nodiscard]] std::string command_help();
[[nodiscard]] std::string run_help();

}  // namespace cordon::app
