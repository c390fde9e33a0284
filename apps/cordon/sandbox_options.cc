#include "sandbox_options.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "cordon/sandbox.h"
#include "option_values.h"

namespace cordon::app::sandbox {
namespace {

constexpr auto kOwn = std::to_array<OptionSpec>({
    {"--backend", "NAME", "linux (default) or gvisor"},
    {"--tty", "", "give the program a terminal of its own"},
    {"--detach", "", "print the number of the process, and leave it running"},
    {"--follow", "", "go on with what comes, until the program ends"},
    {"--leave-running", "", "let the sandbox go on after the checkpoint"},
    {"--grace", "DUR", "time to end by itself (5s)"},
    {"--quiet", "", "no progress on stderr"},
    {"--json", "", "print JSON"},
    {"--help", "", "print the help"},
});

std::unexpected<Error> wrong(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

Result<void> apply_own(Line& line, std::string_view name, const std::string& value) {
  if (name == "--tty") line.tty = true;
  if (name == "--detach") line.detach = true;
  if (name == "--follow") line.follow = true;
  if (name == "--leave-running") line.leave_running = true;
  if (name == "--quiet") line.quiet = true;
  if (name == "--json") line.json = true;
  if (name == "--help") line.help = true;
  if (name == "--backend") {
    if (value != "linux" && value != "gvisor") {
      return bad_value(value, "is no backend of sandboxes: there are linux and gvisor");
    }
    line.backend = value;
  }
  if (name == "--grace") {
    line.grace_given = true;
    return store(line.run.request.grace, parse_duration(value));
  }
  return {};
}

// Where each spec of a grammar comes from.
struct Table {
  std::vector<OptionSpec> specs{};
  std::vector<const RunOption*> of_run{};   // null: one of our own
  std::vector<std::string_view> why_not{};  // empty: it is taken
};

Table table_of(const Grammar& grammar) {
  Table table;
  for (const RunOption& option : run_option_table()) {
    const std::string_view name = option.spec.name;
    const auto refused = std::ranges::find(grammar.refused, name, &Refused::option);
    if (std::ranges::find(grammar.run_options, name) != grammar.run_options.end()) {
      table.why_not.emplace_back();
    } else if (refused != grammar.refused.end()) {
      table.why_not.push_back(refused->why);
    } else {
      continue;
    }
    table.specs.push_back(option.spec);
    table.of_run.push_back(&option);
  }
  for (const OptionSpec& option : kOwn) {
    if (std::ranges::find(grammar.own, option.name) == grammar.own.end()) continue;
    table.specs.push_back(option);
    table.of_run.push_back(nullptr);
    table.why_not.emplace_back();
  }
  return table;
}

// The operands that follow the options.
Result<std::vector<std::string>> parse_part(const Table& table, Line& line,
                                            std::vector<std::string> arguments) {
  auto parsed = parse_command_line(table.specs, std::move(arguments));
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  for (const auto& [index, value] : parsed->options) {
    const std::string_view name = table.specs[index].name;
    if (const std::string_view why = table.why_not[index]; !why.empty()) {
      return wrong(concat(name, ": ", why));
    }
    auto applied = table.of_run[index] != nullptr ? table.of_run[index]->apply(line.run, value)
                                                  : apply_own(line, name, value);
    if (!applied) return wrong(concat(name, ": ", applied.error().message));
  }
  return std::move(parsed->operands);
}

}  // namespace

std::span<const OptionSpec> own_options() { return kOwn; }

Result<Line> parse_line(const Grammar& grammar, std::vector<std::string> arguments) {
  const Table table = table_of(grammar);
  Line line;
  auto operands = parse_part(table, line, std::move(arguments));
  if (!operands) return std::unexpected(std::move(operands.error()));
  if (grammar.name && !line.help) {
    if (operands->empty()) return wrong("no sandbox was named");
    line.name = std::move(operands->front());
    operands->erase(operands->begin());
    if (!grammar.program || operands->empty() || operands->front().starts_with('-')) {
      operands = parse_part(table, line, *std::move(operands));
      if (!operands) return std::unexpected(std::move(operands.error()));
    }
  }
  if (line.help) return line;
  if (grammar.name) {
    const auto valid = validate_sandbox_id(line.name);
    if (!valid && line.name.find(':') == std::string::npos) {
      return std::unexpected(valid.error());
    }
  }
  if (auto valid = validate(line.run.request.limits); !valid) {
    return std::unexpected(std::move(valid.error()));
  }
  if (grammar.program) {
    if (operands->empty() && line.run.image) return line;  // it may name one
    if (operands->empty()) return wrong("no program to run was given");
    line.run.request.program = std::move(operands->front());
    line.run.request.args.assign(std::make_move_iterator(operands->begin() + 1),
                                 std::make_move_iterator(operands->end()));
    return line;
  }
  if (operands->size() > grammar.operands) {
    return wrong(concat("there is nothing to do with '", (*operands)[grammar.operands], "'"));
  }
  line.operands = *std::move(operands);
  return line;
}

namespace {

constexpr std::string_view kSecret =
    "what programs of a sandbox print is kept for whoever attaches later, and a secret would be "
    "kept "
    "with it: use cordon run";
constexpr std::string_view kDirectory =
    "a sandbox has a /tmp of its own for as long as it lives: use that, or let it keep a directory "
    "of yours by 'cordon sandbox create --write DIR'";
constexpr std::string_view kExplain =
    "what programs of a sandbox are refused cannot be told: try the program by cordon run "
    "--explain";
constexpr std::string_view kLogs = "what it prints is kept: see cordon sandbox logs";
constexpr std::string_view kFixed =
    "that is the same for everybody in a sandbox: give it to cordon sandbox create";

std::vector<Refused> refused_by_all() {
  return {{"--secret", kSecret},     {"--redact", kSecret},   {"--no-redact", kSecret},
          {"--workdir", kDirectory}, {"--cache", kDirectory}, {"--keep", kDirectory},
          {"--collect", kDirectory}, {"--into", kDirectory},  {"--collect-limit", kDirectory},
          {"--explain", kExplain},   {"--log", kLogs}};
}

std::vector<Refused> refused_by_exec() {
  std::vector<Refused> all = refused_by_all();
  for (const std::string_view option :
       {"--rootfs", "--read", "--write", "--bind", "--tmpfs", "--user", "--net", "--no-unix",
        "--cgroup-parent", "--require", "--backend"}) {
    all.push_back({option, kFixed});
  }
  return all;
}

}  // namespace

Grammar create_grammar() {
  return {
      .run_options = {"--timeout",       "--grace",     "--cpu-time", "--cpus",      "--memory",
                      "--pids",          "--pids-kill", "--files",    "--file-size", "--output",
                      "--rootfs",        "--read",      "--write",    "--bind",      "--tmpfs",
                      "--user",          "--net",       "--no-unix",  "--policy",    "--profile",
                      "--audit",         "--audit-key", "--cwd",      "--env",       "--env-pass",
                      "--cgroup-parent", "--require"},
      .own = {"--backend", "--tty", "--json", "--help"},
      .refused = refused_by_all(),
      .program = true};
}

Grammar exec_grammar() {
  return {
      .run_options = {"--timeout", "--grace", "--cpu-time", "--cpus", "--memory", "--pids",
                      "--pids-kill", "--files", "--file-size", "--output", "--policy", "--profile",
                      "--audit", "--audit-key", "--cwd", "--env", "--env-pass", "--report"},
      .own = {"--tty", "--detach", "--json", "--help"},
      .refused = refused_by_exec(),
      .program = true};
}

}  // namespace cordon::app::sandbox
