#include "session.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "client_watch.h"
#include "cordon/run.h"
#include "input_relay.h"
#include "mcp_client.h"
#include "mcp_input.h"
#include "mcp_output.h"
#include "mcp_pipe.h"
#include "outcome/decide.h"
#include "output.h"
#include "run_control.h"
#include "terminal.h"
#include "wake.h"
#include "write_all.h"

namespace cordon::app {
namespace {

void follow_window(Process& process) {
  if (const auto size = terminal_size(STDOUT_FILENO)) (void)process.resize_terminal(*size);
}

// What relays streams, and how it is told to stop.
struct Relays {
  RunControl& control;
  Clock& clock;
  const Wake& abandoned;
  const OutputTaps& taps;
  Wake input_stop;
  Wake watch_stop;
  McpSides sides{};
  const McpPipe* pipe = nullptr;  // of an MCP server's stdout, if it is the command's own
};

// What it does with its stdout is told by the pipe itself.
void relay_log(EventStream events, const Wake& abandoned) {
  for (const Event& event : events) {
    if (event.kind != Event::Kind::err) continue;
    // As with every complaint: a stderr that cannot be written to is not our problem.
    (void)write_all_until(STDERR_FILENO, event.data.view(), abandoned.fd());
  }
}

// Whether an MCP server can write to a pipe of ours: nobody else has to see what it writes.
bool takes_own_pipe(Streams streams, const McpSides& sides, const Request& request,
                    const OutputTaps& taps) {
  return streams == Streams::mcp && sides.ends_whole && taps.log == nullptr &&
         !request.limits.output_bytes;
}

// Between an MCP server and its client, until the server's end. How many bytes of its stdout the
// process has not seen.
std::uint64_t relay_conversation(Process& process, EventStream events, const Request& request,
                                 Relays relays) {
  McpClient client(relays.control, relays.abandoned);
  const ClientWatch watch(relays.control, request.grace, std::move(relays.watch_stop));
  std::optional<McpInput> input;
  if (relays.sides.gate != nullptr) {
    input.emplace(process, client, *relays.sides.gate, std::move(relays.input_stop));
  }
  if (relays.pipe == nullptr) {
    relay_messages(std::move(events), client, relays.sides.gate, relays.abandoned, relays.taps);
    return 0;
  }
  std::thread log([&] { relay_log(std::move(events), relays.abandoned); });
  const std::uint64_t bytes = relays.pipe->relay(client, relays.sides.gate);
  log.join();
  return bytes;
}

// Passes input on, and output where it belongs, until the program's end.
Captured relay_streams(Process& process, EventStream events, const Request& request,
                       Streams streams, Relays relays) {
  const Wake& abandoned = relays.abandoned;
  const OutputTaps& taps = relays.taps;
  std::optional<RawTerminal> raw;
  if (streams == Streams::terminal) raw.emplace(STDIN_FILENO);
  std::optional<InputRelay> input;
  const bool ours = streams == Streams::visit || relays.sides.gate != nullptr;
  if (request.in.kind == Input::Kind::pipe && !ours) {
    const auto keys = raw ? InputRelay::Keys::raw : InputRelay::Keys::cooked;
    input.emplace(process, relays.control, relays.clock, STDIN_FILENO, keys,
                  std::move(relays.input_stop));
  }
  switch (streams) {
    case Streams::inherit:
      (void)process.wait();
      return {};
    case Streams::mcp:
      return {.bytes = relay_conversation(process, std::move(events), request, std::move(relays))};
    case Streams::visit:
      relays.sides.visit->talk(process, std::move(events), relays.clock, relays.sides.gate);
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

void connect(Request& request, Streams streams, bool gated) {
  request.in = gated || is_terminal(STDIN_FILENO) ? Input::pipe() : Input::inherit();
  const bool inherited = streams == Streams::inherit;
  request.out = inherited ? Output::inherit() : Output::events();
  request.err = inherited ? Output::inherit() : Output::events();
  if (streams == Streams::visit) request.in = Input::pipe();
  if (streams == Streams::mcp || streams == Streams::visit) {
    request.out = message_lines();
    request.event_buffer = kLongestMessage;
  }
  if (streams == Streams::terminal) {
    request.terminal = terminal_size(STDOUT_FILENO).value_or(TerminalSize{});
  }
}

Outcome run_session(Manager& manager, Request request, Streams streams, const SignalBlock& block,
                    const OutputTaps& taps, std::function<void(int signal)> signalled,
                    McpSides sides) {
  auto abandoned = Wake::create();
  if (!abandoned) return not_started(manager, abandoned.error());
  auto input_stop = Wake::create();
  if (!input_stop) return not_started(manager, input_stop.error());
  auto watch_stop = Wake::create();
  if (!watch_stop) return not_started(manager, watch_stop.error());

  std::optional<McpPipe> pipe;
  if (takes_own_pipe(streams, sides, request, taps)) {
    auto made = McpPipe::make();
    if (!made) return not_started(manager, made.error());
    pipe.emplace(*std::move(made));
    request.out = Output::to_fd(pipe->server_end());
  }
  const auto created = manager.create(request);
  if (!created) return not_started(manager, created.error());
  Process& process = **created;
  EventStream events = process.events();
  if (const auto started = process.start(); !started) {
    return process.outcome().value_or(not_started(manager, started.error()));
  }
  request.secrets.clear();  // the program has them
  if (pipe) pipe->started();

  RunControl control(process, request.grace, *abandoned, std::move(signalled));
  Captured captured;
  {
    const SignalRelay signals(block, control, [&] { follow_window(process); });
    captured = relay_streams(process, std::move(events), request, streams,
                             {.control = control,
                              .clock = manager.clock(),
                              .abandoned = *abandoned,
                              .taps = taps,
                              .input_stop = *std::move(input_stop),
                              .watch_stop = *std::move(watch_stop),
                              .sides = sides,
                              .pipe = pipe ? &*pipe : nullptr});
  }

  auto ended = process.wait();
  if (!ended) return not_started(manager, ended.error());
  ended->out = std::move(captured.out);
  ended->err = std::move(captured.err);
  ended->output_truncated = ended->output_truncated || captured.truncated;
  ended->output_bytes += captured.bytes;
  return *std::move(ended);
}

}  // namespace cordon::app
