#include "mcp_inspect.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "concat.h"
#include "denial_text.h"
#include "marks.h"
#include "mcp/json_view.h"
#include "mcp_command.h"
#include "mcp_inspect_talk.h"
#include "mcp_inspect_text.h"
#include "mcp_server.h"
#include "mcp_visit.h"
#include "message.h"
#include "option_values.h"
#include "run_command.h"
#include "terminal.h"
#include "verdict_line.h"
#include "write_all.h"

namespace cordon::app {
namespace {

constexpr int kFailed = 1;

constexpr auto kOptions = std::to_array<OptionSpec>({
    {"--call", "TOOL", "call this tool and print its result"},
    {"--arg", "KEY=VALUE", "with this argument; repeatable"},
    {"--args", "JSON", "with all of these, an object"},
    {"--wait", "DUR", "for each answer"},
});

std::unexpected<Error> bad_usage(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

Result<void> take(Inspect& asked, std::string_view option, const std::string& value) {
  if (value.empty()) return bad_usage("is empty");
  if (option == "--call") {
    asked.call = value;
  } else if (option == "--wait") {
    return store(asked.wait, parse_duration(value));
  } else if (option == "--args") {
    const auto object = mcp::check_json(value, {});
    if (!object || !mcp::is_object(*object)) return bad_usage("is no JSON object");
    asked.arguments = *object;
  } else {
    const std::size_t equals = value.find('=');
    if (equals == 0 || equals == std::string::npos) return bad_usage("is not KEY=VALUE");
    std::string name = value.substr(0, equals);
    const auto again = std::ranges::find(asked.given, name,
                                         [](const auto& one) -> const auto& { return one.first; });
    if (again != asked.given.end()) return bad_usage("the same argument twice");
    asked.given.emplace_back(std::move(name), value.substr(equals + 1));
  }
  return {};
}

Result<void> check(const Inspect& asked, const RunOptions& options) {
  const bool arguments = !asked.given.empty() || !asked.arguments.empty();
  if (asked.call.empty() && arguments) return bad_usage("--arg and --args need --call");
  if (!asked.given.empty() && !asked.arguments.empty()) {
    return bad_usage("--arg and --args: leave one out");
  }
  if (asked.wait <= Duration{0}) return bad_usage("--wait: has to be some time");
  if (!options.log.file.empty())
    return bad_usage("--log: inspect shows the end of the server's log");
  if (options.pool == PoolUse::only) return bad_usage("--pool: inspect needs a sandbox of its own");
  return {};
}

// A stderr that cannot be written to is not our problem.
void note(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

std::string indented(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    all += concat("  ", base::printable(text.substr(0, end)), "\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

void tell_failure(const Inspected& seen, const Outcome& outcome) {
  complain(seen.failure->message);
  const bool ended = seen.failure->kind == mcp::AskFailure::Kind::ended;
  if (const std::string line = verdict_line(outcome); ended && !line.empty()) {
    complain(line);
  } else if (ended && outcome.exit_code) {
    complain(concat("it exited with ", std::to_string(*outcome.exit_code)));
  }
  if (seen.noise > 0) {
    complain(concat("lines of its stdout that are no messages: ", std::to_string(seen.noise),
                    ", the first: ", base::printable(seen.first_noise)));
  }
  if (!seen.log.empty()) note(concat("cordon: its stderr ends so:\n", indented(seen.log)));
}

int tell(const Inspected& seen, const Outcome& outcome, bool called, bool json) {
  int status = seen.failure || tool_failed(seen) ? kFailed : 0;
  std::string text;
  if (json) {
    text = inspection_json(seen, outcome);
  } else {
    if (seen.result) text = result_text(*seen.result, is_terminal(STDOUT_FILENO));
    if (!called) text = inspection_text(seen, use_colours(STDOUT_FILENO));
  }
  if (!text.empty() && print(text) != 0) status = kOwnFailure;
  if (seen.failure) tell_failure(seen, outcome);
  const bool denied = !outcome.denials.empty() || outcome.denials_omitted > 0;
  if (!json && denied) note(denial_text(outcome.denials, outcome.denials_omitted));
  return status;
}

}  // namespace

int mcp_inspect(std::vector<std::string> arguments) {
  Inspect asked;
  auto server = parse_server_options(
      std::move(arguments),
      {.specs = kOptions, .take = [&](std::string_view option, const std::string& value) {
         return take(asked, option, value);
       }});
  if (!server) return server_failure(server.error());
  RunOptions& options = server->options;
  if (options.help) return print(mcp_help());
  if (const auto right = check(asked, options); !right) return server_failure(right.error());
  if (const auto ready = become_server(options); !ready) return server_failure(ready.error());
  if (!server->resolved.hint.empty()) complain(server->resolved.hint);
  const bool json = std::exchange(options.json, false);
  options.request.explain = true;
  options.pool = PoolUse::off;
  asked.grace = options.request.grace;

  std::optional<Inspected> seen;
  options.visit = std::make_shared<const McpVisit>(
      McpVisit{.talk =
                   [&](Process& process, EventStream events, Clock& clock, mcp::Gate* gate) {
                     seen = inspect_server(process, std::move(events), clock, gate, asked);
                   },
               .tell =
                   [&](const Outcome& outcome) {
                     if (seen) return tell(*seen, outcome, !asked.call.empty(), json);
                     complain(verdict_line(outcome));  // it did not come to a start
                     return exit_status(outcome);
                   }});
  return run_asked(std::move(options));
}

}  // namespace cordon::app
