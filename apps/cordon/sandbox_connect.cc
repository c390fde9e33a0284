#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "concat.h"
#include "message.h"
#include "option_values.h"
#include "run_json.h"
#include "sandbox_attend.h"
#include "sandbox_command.h"
#include "sandbox_options.h"
#include "sandbox_remote.h"
#include "sandbox_verbs.h"
#include "session.h"
#include "signals.h"
#include "terminal.h"
#include "verdict_line.h"

namespace cordon::app::sandbox {
namespace {

Result<std::pair<Channel, Started>> visit(const std::string& name, ProcessId process) {
  auto channel = reach(name, "connect");
  if (!channel) return std::unexpected(std::move(channel.error()));
  auto asked = channel->send(Kind::connect, Connect{.process = process}, kAnswer);
  if (!asked && asked.error().code != ErrorCode::closed) {
    return std::unexpected(std::move(asked.error()));
  }
  auto answer = expect(*channel, Kind::started, kAnswer);
  if (!answer) return std::unexpected(std::move(answer.error()));
  const auto started = from_bytes<Started>(answer->bytes);
  if (!started) {
    return std::unexpected(
        Error{ErrorCode::system, "sandbox", 0, "the sandbox has given an answer of no meaning"});
  }
  return std::pair(*std::move(channel), *started);
}

}  // namespace

int connect_verb(std::vector<std::string> arguments) {
  const Grammar grammar{.run_options = {}, .own = {"--json", "--help"}, .operands = 1};
  auto line = parse_line(grammar, std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  ProcessId process = 0;
  if (!line->operands.empty()) {
    const auto number = parse_count(line->operands.front());
    if (!number) return usage_error(concat("PROCESS: ", number.error().message), kSandboxHelp);
    process = *number;
  }
  auto visited = visit(line->name, process);
  if (!visited) {
    complain(visited.error().message);
    return kOwnFailure;
  }
  const Started started = visited->second;
  const bool terminal = started.terminal && interactive() && !line->json;
  const Streams streams =
      line->json ? Streams::capture : (terminal ? Streams::terminal : Streams::copy);
  const SignalBlock block;
  let_hangup_detach();
  RemoteManager manager(
      std::make_shared<Remote>(std::move(visited->first), started, Bond::visitor, terminal), "");
  if (terminal) {
    if (const auto size = terminal_size(STDOUT_FILENO)) {
      (void)manager.remote()->say(Kind::resize, Size{.rows = size->rows, .columns = size->columns});
    }
  }
  Request request;
  request.in = started.relayed ? Input::pipe() : Input::none();
  const Outcome outcome =
      run_session(manager, std::move(request), streams, block, {}, [](int /*signal*/) {});
  if (const std::uint64_t dropped = manager.remote()->dropped(); dropped > 0) {
    complain(concat(std::to_string(dropped), " bytes of its output were not kept"));
  }
  if (manager.remote()->detached()) {
    complain(concat("detached: 'cordon sandbox connect ", line->name, " ",
                    std::to_string(started.process), "' goes on"));
    return 0;
  }
  if (line->json) {
    if (const int printed = print(run_json(outcome)); printed != 0) return printed;
  } else if (const std::string text = verdict_line(outcome); !text.empty()) {
    complain(text);
  }
  return exit_status(outcome);
}

}  // namespace cordon::app::sandbox
