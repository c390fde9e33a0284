#include <unistd.h>

#include <optional>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "message.h"
#include "option_values.h"
#include "output.h"
#include "run_json.h"
#include "sandbox_client.h"
#include "sandbox_command.h"
#include "sandbox_options.h"
#include "sandbox_programs.h"
#include "sandbox_verbs.h"
#include "write_all.h"

namespace cordon::app::sandbox {
namespace {

constexpr std::size_t kMostShown = std::size_t{2} * 1024 * 1024;

// To the streams of the command, or kept for JSON.
class Shown {
 public:
  explicit Shown(bool json) : json_(json) {}

  // False: nobody reads it.
  [[nodiscard]] bool add(const Output& output) {
    dropped_ += output.dropped;
    if (json_) {
      capture_.add(output.err ? Event::Kind::err : Event::Kind::out, output.data);
      return true;
    }
    return write_all(output.err ? STDERR_FILENO : STDOUT_FILENO, output.data).has_value();
  }
  [[nodiscard]] int finish() {
    if (!json_) {
      if (dropped_ > 0) complain(concat(std::to_string(dropped_), " bytes before were not kept"));
      return 0;
    }
    Captured captured = capture_.finish();
    Outcome streams;
    streams.out = std::move(captured.out);
    streams.err = std::move(captured.err);
    return print(concat(R"({"schema":"cordon.sandbox.logs/1",)", streams_json(streams),
                        R"(,"dropped":)", std::to_string(dropped_), "}\n"));
  }

 private:
  const bool json_;
  Capture capture_{kMostShown};
  std::uint64_t dropped_ = 0;
};

int show_saved(const std::string& name, ProcessId process, Shown& shown) {
  const auto entry = find_entry(name);
  if (!entry) return failed(entry.error());
  const auto logs = read_logs(*entry);
  if (!logs) return failed(logs.error());
  for (const SavedLog& log : *logs) {
    if (log.row.process != process) continue;
    for (const Output& output : log.output) {
      if (!shown.add(output)) return kOwnFailure;
    }
    return shown.finish();
  }
  complain(concat("there is no process ", std::to_string(process), " in '", name,
                  "': see 'cordon sandbox ps ", name, "'"));
  return 1;
}

int show_live(Channel& channel, const Line& line, ProcessId process, Shown& shown) {
  auto asked =
      channel.send(Kind::logs, Connect{.process = process, .follow = line.follow}, kAnswer);
  if (!asked && asked.error().code != ErrorCode::closed) return failed(asked.error());
  if (auto started = expect(channel, Kind::started, kAnswer); !started) {
    return failed(started.error());
  }
  while (true) {
    auto message = channel.receive(kNoTimeout);
    if (!message) {
      if (line.follow && message.error().code == ErrorCode::closed) return shown.finish();
      return failed(message.error());
    }
    if (message->kind == Kind::done || message->kind == Kind::ended) return shown.finish();
    const auto output =
        message->kind == Kind::output ? from_bytes<Output>(message->bytes) : std::nullopt;
    if (!output || !shown.add(*output)) return kOwnFailure;
  }
}

}  // namespace

int logs_verb(std::vector<std::string> arguments) {
  const Grammar grammar{.run_options = {}, .own = {"--follow", "--json", "--help"}, .operands = 1};
  const auto line = parse_line(grammar, std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  ProcessId process = 0;
  if (!line->operands.empty() && line->operands.front() != "main") {
    const auto number = parse_count(line->operands.front());
    if (!number) return usage_error(concat("PROCESS: ", number.error().message), kSandboxHelp);
    process = *number;
  }
  auto contacted = contact(line->name);
  if (!contacted) return failed(contacted.error());
  Shown shown(line->json);
  return contacted->channel ? show_live(*contacted->channel, *line, process, shown)
                            : show_saved(line->name, process, shown);
}

}  // namespace cordon::app::sandbox
