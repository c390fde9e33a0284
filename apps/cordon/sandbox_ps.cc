#include <fmt/format.h>

#include <utility>

#include "audit/time_text.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "message.h"
#include "sandbox_client.h"
#include "sandbox_command.h"
#include "sandbox_options.h"
#include "sandbox_programs.h"
#include "sandbox_verbs.h"

namespace cordon::app::sandbox {
namespace {

std::string started_text(const Row& row) {
  return audit::time_text(WallTime(Duration(row.started)));
}

std::string command_text(const Row& row) {
  std::string text;
  for (const std::string& word : row.command) {
    if (!text.empty()) text += ' ';
    text += base::printable(word);
  }
  return text;
}

std::string table(const std::vector<Row>& rows) {
  std::string text = fmt::format("{:>7}  {:<7}  {:<20}  {:>10}  {:>8}  {}\n", "PROCESS", "STATE",
                                 "STARTED", "OUTPUT", "ATTACHED", "COMMAND");
  for (const Row& row : rows) {
    text += fmt::format("{:>7}  {:<7}  {:<20}  {:>10}  {:>8}  {}\n",
                        row.process == 0 ? "main" : std::to_string(row.process),
                        row.running ? "running" : "ended", started_text(row).substr(0, 19) + 'Z',
                        row.output, row.attached, command_text(row));
  }
  return text;
}

std::string optional_number(const auto& value) {
  return value ? std::to_string(*value) : std::string("null");
}

std::string json(const std::string& name, const std::vector<Row>& rows) {
  std::string list;
  for (const Row& row : rows) {
    std::string command;
    for (const std::string& word : row.command) {
      command += (command.empty() ? "" : ",") + base::json_text(word);
    }
    base::JsonObject object;
    object.add("process", std::to_string(row.process))
        .add("main", base::json_bool(row.process == 0))
        .add("command", "[" + command + "]")
        .add("running", base::json_bool(row.running))
        .add("started", base::json_text(started_text(row)))
        .add("pid", optional_number(row.pid))
        .add("memory_bytes", optional_number(row.memory))
        .add("attached", std::to_string(row.attached))
        .add("output_bytes", std::to_string(row.output))
        .add("output_dropped", std::to_string(row.dropped))
        .add("outcome", row.outcome.empty() ? "null" : row.outcome);
    list += (list.empty() ? "" : ",") + object.str();
  }
  return R"({"schema":"cordon.sandbox.ps/1","name":")" + name + R"(","processes":[)" + list +
         "]}\n";
}

// Of the supervisor, or of what it has left.
Result<std::vector<Row>> rows_of(const std::string& name) {
  auto contacted = contact(name);
  if (!contacted) return std::unexpected(contacted.error());
  auto& channel = contacted->channel;
  if (!channel) {
    const auto entry = find_entry(name);
    if (!entry) return std::unexpected(entry.error());
    auto logs = read_logs(*entry);
    if (!logs) return std::unexpected(std::move(logs.error()));
    std::vector<Row> rows;
    for (SavedLog& log : *logs) {
      log.row.running = false;  // whatever it was when it was written
      rows.push_back(std::move(log.row));
    }
    return rows;
  }
  auto asked = channel->send(Kind::list, Nothing{}, kAnswer);
  if (!asked && asked.error().code != ErrorCode::closed) {
    return std::unexpected(std::move(asked.error()));
  }
  auto answer = expect(*channel, Kind::listed, kAnswer);
  if (!answer) return std::unexpected(std::move(answer.error()));
  auto listed = from_bytes<Listed>(answer->bytes);
  if (!listed) {
    return std::unexpected(
        Error{ErrorCode::system, "sandbox", 0, "the sandbox has given an answer of no meaning"});
  }
  return std::move(listed->rows);
}

}  // namespace

int ps_verb(std::vector<std::string> arguments) {
  const Grammar grammar{.run_options = {}, .own = {"--json", "--help"}};
  const auto line = parse_line(grammar, std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  const auto rows = rows_of(line->name);
  if (!rows) return failed(rows.error());
  return print(line->json ? json(line->name, *rows) : table(*rows));
}

}  // namespace cordon::app::sandbox
