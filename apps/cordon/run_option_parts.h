// The parts of the table of run_options.h, one file a section.
#pragma once

#include <span>

#include "run_options.h"

namespace cordon::app {

[[nodiscard]] std::span<const RunOption> limit_options();
[[nodiscard]] std::span<const RunOption> isolation_options();
[[nodiscard]] std::span<const RunOption> secret_options();
[[nodiscard]] std::span<const RunOption> workdir_options();

// Whether the options of workdir_options() go together. Error: invalid_argument.
[[nodiscard]] Result<void> check_workdir(const RunOptions& options);
[[nodiscard]] std::span<const RunOption> audit_options();
[[nodiscard]] std::span<const RunOption> policy_options();
[[nodiscard]] std::span<const RunOption> pool_options();

// What CORDON_POOL says, for want of an option. Error: invalid_argument.
[[nodiscard]] Result<void> apply_pool_variable(RunOptions& options);

}  // namespace cordon::app
