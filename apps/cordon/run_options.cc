#include "run_options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "option_values.h"
#include "outcome/enforcement.h"
#include "run_option_parts.h"

namespace cordon::app {
namespace {

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
  } else if (value == "linux") {
    options.backend = Backend::linux_sandbox;
  } else if (value == "gvisor") {
    options.backend = Backend::gvisor;
  } else if (value == "posix") {
    options.backend = Backend::posix;
  } else {
    return bad_value(value, "is no backend: there are auto, linux, gvisor and posix");
  }
  return {};
}

Result<void> apply_cgroup_parent(RunOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no control group");
  options.request.cgroup_parent = value;
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

Result<void> apply_explain(RunOptions& options, const std::string& /*value*/) {
  options.request.explain = true;
  return {};
}

Result<void> apply_help(RunOptions& options, const std::string& /*value*/) {
  options.help = true;
  return {};
}

constexpr std::string_view kSurroundings = "Surroundings";
constexpr std::string_view kResult = "Result";

constexpr auto kOthers = std::to_array<RunOption>({
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
    {kSurroundings,
     {"--backend", "NAME", "auto (linux, or nothing is run), linux, gvisor or posix"},
     apply_backend},
    {kSurroundings,
     {"--cgroup-parent", "NAME", "make control groups below this one, not below yours"},
     apply_cgroup_parent},
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
    {kResult,
     {"--explain", "",
      "say on stderr in the end what the program was refused,\n"
      "and which option would allow it"},
     apply_explain},
    {kResult, {"--help", "", "print this"}, apply_help},
});

// Those of kOthers that come before the ones about the result.
constexpr std::size_t kSurroundingsCount =
    static_cast<std::size_t>(std::ranges::count(kOthers, kSurroundings, &RunOption::section));

std::vector<RunOption> whole_table() {
  std::vector<RunOption> table;
  for (const std::span<const RunOption> part :
       {limit_options(), isolation_options(), policy_options(), secret_options(), workdir_options(),
        audit_options(), std::span<const RunOption>(kOthers).first(kSurroundingsCount),
        pool_options(), std::span<const RunOption>(kOthers).subspan(kSurroundingsCount)}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  return table;
}

}  // namespace

std::span<const RunOption> run_option_table() {
  static const std::vector<RunOption> kTable = whole_table();
  return kTable;
}

Result<RunOptions> parse_run_options(std::vector<std::string> arguments) {
  return parse_run_options(std::move(arguments), {});
}

Result<RunOptions> parse_run_options(std::vector<std::string> arguments, const MoreOptions& more) {
  const std::span<const RunOption> table = run_option_table();
  std::vector<OptionSpec> specs;
  specs.reserve(table.size() + more.specs.size());
  for (const RunOption& option : table) specs.push_back(option.spec);
  specs.insert(specs.end(), more.specs.begin(), more.specs.end());
  auto line = parse_command_line(specs, std::move(arguments));
  if (!line) return std::unexpected(std::move(line).error());

  RunOptions options;
  if (auto applied = apply_pool_variable(options); !applied) {
    return std::unexpected(std::move(applied).error());
  }
  for (const auto& [index, value] : line->options) {
    const auto applied = index < table.size() ? table[index].apply(options, value)
                                              : more.take(specs[index].name, value);
    if (!applied) {
      Error error = applied.error();
      error.message = concat(specs[index].name, ": ", error.message);
      return std::unexpected(std::move(error));
    }
  }
  if (options.help) return options;
  if (options.audit.directory.empty() && !options.audit.key_file.empty()) {
    return base::fail(ErrorCode::invalid_argument, "usage", "--audit-key: needs --audit");
  }
  if (auto valid = validate(options.request.limits); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  if (auto together = check_workdir(options); !together) {
    return std::unexpected(std::move(together).error());
  }
  const bool named_elsewhere = more.name_program && more.name_program();
  if (!options.manifest.empty() || named_elsewhere) {  // it names the program
    options.request.args = std::move(line->operands);
    return options;
  }
  if (line->operands.empty() && options.image) return options;  // it may name one
  if (line->operands.empty()) {
    return base::fail(ErrorCode::invalid_argument, "usage", "no program to run was given");
  }
  options.request.program = std::move(line->operands.front());
  options.request.args.assign(std::make_move_iterator(line->operands.begin() + 1),
                              std::make_move_iterator(line->operands.end()));
  return options;
}

}  // namespace cordon::app
