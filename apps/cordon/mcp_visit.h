// What is done with an MCP server in place of relaying it to whoever started the command.
#pragma once

#include <functional>

#include "cordon/clock.h"
#include "cordon/events.h"
#include "cordon/outcome.h"
#include "cordon/process.h"
#include "mcp/gate.h"

namespace cordon::app {

struct McpVisit {
  // Talks to the server that has just been started, and sees to its end. `gate` looks at all that
  // is said; null: nobody does.
  std::function<void(Process& process, EventStream events, Clock& clock, mcp::Gate* gate)> talk{};
  // Tells what came of it, in place of the usual. Returns the exit status.
  std::function<int(const Outcome& outcome)> tell{};
};

}  // namespace cordon::app
