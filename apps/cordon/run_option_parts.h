// The parts of the table of run_options.h, one file a section.
#pragma once

#include <span>

#include "run_options.h"

namespace cordon::app {

[[nodiscard]] std::span<const RunOption> limit_options();
[[nodiscard]] std::span<const RunOption> isolation_options();
[[nodiscard]] std::span<const RunOption> policy_options();

}  // namespace cordon::app
