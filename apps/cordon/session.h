// One run of the command: the program, and the command's own streams, terminal and signals.
#pragma once

#include <cstdint>
#include <functional>

#include "cordon/manager.h"
#include "cordon/outcome.h"
#include "cordon/request.h"
#include "output.h"
#include "signals.h"

namespace cordon::app {

// What is done with the program's streams.
enum class Streams : std::uint8_t {
  inherit,   // the program has the command's own: fast, byte-exact
  copy,      // read, counted and copied through
  capture,   // read and kept for Outcome::out and Outcome::err
  log,       // read and written to the log alone
  terminal,  // the program has a terminal of its own, relayed to and from the command's
  mcp,       // it is an MCP server, and the command's caller its client: see mcp_output.h
};

// Fills in the request's streams. A terminal as stdin is relayed: see input_relay.h.
void connect(Request& request, Streams streams);

// The outcome of a run that did not come to be.
[[nodiscard]] Outcome not_started(const Manager& manager, Error error);

// Runs `request`, connected by connect(), to its end. Never fails: what could not be started is an
// outcome too. `signalled` hears of the signals that the user of the command has sent to it.
[[nodiscard]] Outcome run_session(Manager& manager, Request request, Streams streams,
                                  const SignalBlock& block, const OutputTaps& taps,
                                  std::function<void(int signal)> signalled);

}  // namespace cordon::app
