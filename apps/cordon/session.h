// One run of the command: the program, and the command's own streams, terminal and signals.
#pragma once

#include <cstdint>
#include <functional>

#include "cordon/manager.h"
#include "cordon/outcome.h"
#include "cordon/request.h"
#include "mcp/gate.h"
#include "mcp_visit.h"
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
  visit,     // … and the command itself is: see mcp_visit.h
};

// Fills in the request's streams. A terminal as stdin is relayed: see input_relay.h; and so is what
// an MCP client says if somebody looks at it (`gated`): see mcp_input.h.
void connect(Request& request, Streams streams, bool gated = false);

// The outcome of a run that did not come to be.
[[nodiscard]] Outcome not_started(const Manager& manager, Error error);

// Who has to do with an MCP server besides its client.
struct McpSides {
  mcp::Gate* gate = nullptr;        // looks at every message; null: nobody does
  const McpVisit* visit = nullptr;  // for Streams::visit
  // Whether the end of the server closes its stdout whatever it has started: see mcp_pipe.h.
  bool ends_whole = false;
};

// Runs `request`, connected by connect(), to its end. Never fails: what could not be started is an
// outcome too. `signalled` hears of the signals that the user of the command has sent to it.
[[nodiscard]] Outcome run_session(Manager& manager, Request request, Streams streams,
                                  const SignalBlock& block, const OutputTaps& taps,
                                  std::function<void(int signal)> signalled, McpSides sides = {});

}  // namespace cordon::app
