// What becomes of the stdout of an MCP server: messages go to the client, and nothing else does.
#pragma once

#include "cordon/events.h"
#include "mcp/gate.h"
#include "mcp_client.h"
#include "output.h"
#include "wake.h"

namespace cordon::app {

// How its output has to be cut for relay_messages().
[[nodiscard]] Output message_lines();

// Passes each line that is a message on to the client as it came, or as `gate` (null: none) has
// it; says on stderr what else was written, and copies stderr. Until the program's end.
void relay_messages(EventStream events, McpClient& client, mcp::Gate* gate, const Wake& abandoned,
                    const OutputTaps& taps);

}  // namespace cordon::app
