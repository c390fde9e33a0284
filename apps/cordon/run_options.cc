#include "run_options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "option_values.h"
#include "outcome/enforcement.h"

namespace cordon::app {
namespace {

template <typename Field, typename T>
Result<void> store(Field& field, Result<T> value) {
  if (!value) return std::unexpected(std::move(value).error());
  field = *std::move(value);
  return {};
}

Result<void> apply_timeout(RunOptions& options, const std::string& value) {
  return store(options.request.timeout, parse_timeout(value));
}

Result<void> apply_grace(RunOptions& options, const std::string& value) {
  return store(options.request.grace, parse_duration(value));
}

Result<void> apply_cpu_time(RunOptions& options, const std::string& value) {
  return store(options.request.limits.cpu_time, parse_duration(value));
}

Result<void> apply_memory(RunOptions& options, const std::string& value) {
  return store(options.request.limits.memory_bytes, parse_size(value));
}

Result<void> apply_pids(RunOptions& options, const std::string& value) {
  return store(options.request.limits.processes, parse_count(value));
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

Result<void> apply_cwd(RunOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no directory");
  options.request.cwd = value;
  return {};
}

Result<void> apply_env(RunOptions& options, const std::string& value) {
  const std::size_t equals = value.find('=');
  std::string name = value.substr(0, equals);
  if (name.empty()) return bad_value(value, "has no variable name");
  if (equals != std::string::npos) {
    options.request.env.push_back({std::move(name), value.substr(equals + 1)});
    return {};
  }
  if (name.find('*') != std::string::npos) {
    return bad_value(value, "is not a name: --env-pass takes patterns");
  }
  options.request.env_pass.push_back(std::move(name));
  return {};
}

Result<void> apply_env_pass(RunOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no variable");
  options.request.env_pass.push_back(value);
  return {};
}

Result<void> apply_backend(RunOptions& options, const std::string& value) {
  if (value == "auto") {
    options.backend = Backend::automatic;
  } else if (value == "posix") {
    options.backend = Backend::posix;
  } else {
    return bad_value(value, "is no backend: there are auto and posix");
  }
  return {};
}

Result<void> apply_require(RunOptions& options, const std::string& value) {
  std::vector<std::string> known;
  known.reserve(outcome::kGuarantees.size());
  for (const auto& guarantee : outcome::kGuarantees) known.emplace_back(guarantee.name);

  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    const std::string name = value.substr(begin, end - begin);
    if (name == "all") {
      options.require = known;
    } else if (std::ranges::find(known, name) == known.end()) {
      return bad_value(name,
                       concat("is no guarantee: there are ", comma_separated(known), " and all"));
    } else if (std::ranges::find(options.require, name) == options.require.end()) {
      options.require.push_back(name);
    }
    begin = end + 1;
  }
  return {};
}

Result<void> apply_json(RunOptions& options, const std::string& /*value*/) {
  options.json = true;
  return {};
}

Result<void> apply_report(RunOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no file");
  options.report = value;
  return {};
}

Result<void> apply_help(RunOptions& options, const std::string& /*value*/) {
  options.help = true;
  return {};
}

constexpr std::string_view kLimits = "Limits";
constexpr std::string_view kSurroundings = "Surroundings";
constexpr std::string_view kResult = "Result";

constexpr auto kTable = std::to_array<RunOption>({
    {kLimits, {"--timeout", "DUR", "end the run after DUR (5m); none: never"}, apply_timeout},
    {kLimits, {"--grace", "DUR", "time between SIGTERM and SIGKILL (5s)"}, apply_grace},
    {kLimits, {"--cpu-time", "DUR", "end the run after DUR of processor time"}, apply_cpu_time},
    {kLimits, {"--memory", "SIZE", "memory the program may use"}, apply_memory},
    {kLimits, {"--pids", "N", "processes and threads alive at once"}, apply_pids},
    {kLimits, {"--files", "N", "open file descriptors in one process"}, apply_files},
    {kLimits, {"--file-size", "SIZE", "size of any one file the program writes"}, apply_file_size},
    {kLimits,
     {"--output", "SIZE", "end the run when stdout and stderr together exceed SIZE"},
     apply_output},
    {kSurroundings, {"--cwd", "DIR", "run in DIR instead of the current directory"}, apply_cwd},
    {kSurroundings,
     {"--env", "NAME[=VALUE]",
      "set a variable, without VALUE to what it is here;\n"
      "repeatable"},
     apply_env},
    {kSurroundings,
     {"--env-pass", "GLOB",
      "pass on variables whose names match GLOB, besides a few\n"
      "harmless ones such as PATH, HOME and LANG; repeatable"},
     apply_env_pass},
    {kSurroundings, {"--backend", "NAME", "auto (the best there is) or posix"}, apply_backend},
    {kSurroundings,
     {"--require", "LIST",
      "run only if each of these is fully enforced: memory, cpu,\n"
      "processes, filesystem, network, syscalls, capabilities,\n"
      "timeout, or all; separated by commas"},
     apply_require},
    {kResult,
     {"--json", "",
      "capture the output (1M a stream) and print one object:\n"
      "{\"schema\",\"stdout\",\"stderr\",\"outcome\"}"},
     apply_json},
    {kResult,
     {"--report", "FILE", "stream the output as usual; write the outcome to FILE"},
     apply_report},
    {kResult, {"--help", "", "print this"}, apply_help},
});

}  // namespace

std::span<const RunOption> run_option_table() { return kTable; }

Result<RunOptions> parse_run_options(std::vector<std::string> arguments) {
  std::vector<OptionSpec> specs;
  specs.reserve(kTable.size());
  for (const RunOption& option : kTable) specs.push_back(option.spec);
  auto line = parse_command_line(specs, std::move(arguments));
  if (!line) return std::unexpected(std::move(line).error());

  RunOptions options;
  for (const auto& [index, value] : line->options) {
    if (auto applied = kTable[index].apply(options, value); !applied) {
      Error error = std::move(applied).error();
      error.message = concat(kTable[index].spec.name, ": ", error.message);
      return std::unexpected(std::move(error));
    }
  }
  if (options.help) return options;
  if (auto valid = validate(options.request.limits); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  if (line->operands.empty()) {
    return base::fail(ErrorCode::invalid_argument, "usage", "no program to run was given");
  }
  options.request.program = std::move(line->operands.front());
  options.request.args.assign(std::make_move_iterator(line->operands.begin() + 1),
                              std::make_move_iterator(line->operands.end()));
  return options;
}

}  // namespace cordon::app
