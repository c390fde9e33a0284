#include <array>

#include "option_values.h"
#include "run_option_parts.h"

namespace cordon::app {
namespace {

Result<void> apply_timeout(RunOptions& options, const std::string& value) {
  return store(options.request.timeout, parse_timeout(value));
}

Result<void> apply_grace(RunOptions& options, const std::string& value) {
  return store(options.request.grace, parse_duration(value));
}

Result<void> apply_cpu_time(RunOptions& options, const std::string& value) {
  return store(options.request.limits.cpu_time, parse_duration(value));
}

Result<void> apply_cpus(RunOptions& options, const std::string& value) {
  return store(options.request.limits.cpu_millicores, parse_millicores(value));
}

Result<void> apply_memory(RunOptions& options, const std::string& value) {
  return store(options.request.limits.memory_bytes, parse_size(value));
}

Result<void> apply_pids(RunOptions& options, const std::string& value) {
  return store(options.request.limits.processes, parse_count(value));
}

Result<void> apply_pids_kill(RunOptions& options, const std::string& /*value*/) {
  options.request.end_at_process_limit = true;
  return {};
}

Result<void> apply_files(RunOptions& options, const std::string& value) {
  return store(options.request.limits.open_files, parse_count(value));
}

Result<void> apply_file_size(RunOptions& options, const std::string& value) {
  return store(options.request.limits.file_size_bytes, parse_size(value));
}

Result<void> apply_output(RunOptions& options, const std::string& value) {
  return store(options.request.limits.output_bytes, parse_size(value));
}

constexpr std::string_view kLimits = "Limits";

constexpr auto kTable = std::to_array<RunOption>({
    {kLimits, {"--timeout", "DUR", "end the run after DUR (5m); none: never"}, apply_timeout},
    {kLimits, {"--grace", "DUR", "time between SIGTERM and SIGKILL (5s)"}, apply_grace},
    {kLimits, {"--cpu-time", "DUR", "end the run after DUR of processor time"}, apply_cpu_time},
    {kLimits, {"--cpus", "N", "processors it may keep busy, such as 0.5 [1]"}, apply_cpus},
    {kLimits, {"--memory", "SIZE", "memory the program may use [512M]"}, apply_memory},
    {kLimits, {"--pids", "N", "processes and threads alive at once [128]"}, apply_pids},
    {kLimits,
     {"--pids-kill", "", "end the run at --pids, instead of letting fork fail"},
     apply_pids_kill},
    {kLimits, {"--files", "N", "open file descriptors in one process [1024]"}, apply_files},
    {kLimits, {"--file-size", "SIZE", "size of any one file the program writes"}, apply_file_size},
    {kLimits,
     {"--output", "SIZE", "end the run when stdout and stderr together exceed SIZE"},
     apply_output},
});

}  // namespace

std::span<const RunOption> limit_options() { return kTable; }

}  // namespace cordon::app
