#include "session.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "client_watch.h"
#include "cordon/run.h"
#include "input_relay.h"
#include "mcp_output.h"
#include "outcome/decide.h"
#include "output.h"
#include "run_control.h"
#include "terminal.h"
#include "wake.h"

namespace cordon::app {
namespace {

void follow_window(Process& process) {
  if (const auto size = terminal_size(STDOUT_FILENO)) (void)process.resize_terminal(*size);
}

// Passes input on, and output where it belongs, until the program's end.
Captured relay_streams(Process& process, EventStream events, const Request& request,
                       Streams streams, RunControl& control, Clock& clock, Wake input_stop,
                       const Wake& abandoned, const OutputTaps& taps) {
  std::optional<RawTerminal> raw;
  if (streams == Streams::terminal) raw.emplace(STDIN_FILENO);
  std::optional<InputRelay> input;
  std::optional<ClientWatch> client;
  if (request.in.kind == Input::Kind::pipe) {
    const auto keys = raw ? InputRelay::Keys::raw : InputRelay::Keys::cooked;
    input.emplace(process, control, clock, STDIN_FILENO, keys, std::move(input_stop));
  } else if (streams == Streams::mcp) {
    client.emplace(control, request.grace, std::move(input_stop));
  }
  switch (streams) {
    case Streams::inherit:
      (void)process.wait();
      return {};
    case Streams::mcp:
      relay_messages(std::move(events), control, abandoned, taps);
      return {};
    case Streams::capture:
      return capture_output(std::move(events), kDefaultCapture, abandoned, taps);
    case Streams::log:
      log_output(std::move(events), abandoned, *taps.log);
      return {};
    case Streams::copy:
    case Streams::terminal:
      copy_output(std::move(events), process, abandoned, taps);
      return {};
  }
  return {};
}

}  // namespace

Outcome not_started(const Manager& manager, Error error) {
  Capabilities capabilities = manager.capabilities();
  return outcome::failed_to_start(0, std::move(capabilities.backend),
                                  std::move(capabilities.enforcement), std::move(error));
}

void connect(Request& request, Streams streams) {
  request.in = is_terminal(STDIN_FILENO) ? Input::pipe() : Input::inherit();
  const bool inherited = streams == Streams::inherit;
  request.out = inherited ? Output::inherit() : Output::events();
  request.err = inherited ? Output::inherit() : Output::events();
  if (streams == Streams::mcp) {
    request.out = message_lines();
    request.event_buffer = kLongestMessage;
  }
  if (streams == Streams::terminal) {
    request.terminal = terminal_size(STDOUT_FILENO).value_or(TerminalSize{});
  }
}

Outcome run_session(Manager& manager, Request request, Streams streams, const SignalBlock& block,
                    const OutputTaps& taps, std::function<void(int signal)> signalled) {
  auto abandoned = Wake::create();
  if (!abandoned) return not_started(manager, abandoned.error());
  auto input_stop = Wake::create();
  if (!input_stop) return not_started(manager, input_stop.error());

  const auto created = manager.create(request);
  if (!created) return not_started(manager, created.error());
  Process& process = **created;
  EventStream events = process.events();
  if (const auto started = process.start(); !started) {
    return process.outcome().value_or(not_started(manager, started.error()));
  }
  request.secrets.clear();  // the program has them

  RunControl control(process, request.grace, *abandoned, std::move(signalled));
  Captured captured;
  {
    const SignalRelay signals(block, control, [&] { follow_window(process); });
    captured = relay_streams(process, std::move(events), request, streams, control, manager.clock(),
                             *std::move(input_stop), *abandoned, taps);
  }

  auto ended = process.wait();
  if (!ended) return not_started(manager, ended.error());
  ended->out = std::move(captured.out);
  ended->err = std::move(captured.err);
  ended->output_truncated = ended->output_truncated || captured.truncated;
  return *std::move(ended);
}

}  // namespace cordon::app
