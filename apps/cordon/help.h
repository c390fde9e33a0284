// The texts of `cordon help` and of each verb's --help.
#pragma once

#include <string>

#include "command_line.h"

namespace cordon::app {

[[nodiscard]] std::string command_help();
[[nodiscard]] std::string run_help();
[[nodiscard]] std::string plan_help();
[[nodiscard]] std::string doctor_help();
[[nodiscard]] std::string policy_help();

// An option as these texts show it.
[[nodiscard]] std::string option_lines(const OptionSpec& option);

}  // namespace cordon::app
