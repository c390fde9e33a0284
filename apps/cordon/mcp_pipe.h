// The stdout of an MCP server as a pipe of the command's own, which the thread that serves the
// client reads: what the server writes is with its client after one wake-up, a read and a write.
//
// For servers whose end closes the pipe whatever they have started, as that of a sandbox does.
#pragma once

#include <cstdint>

#include "base/fd.h"
#include "cordon/error.h"
#include "mcp/gate.h"
#include "mcp_client.h"

namespace cordon::app {

class McpPipe {
 public:
  // Error: no descriptors left.
  [[nodiscard]] static Result<McpPipe> make();

  // For the server, until it has started.
  [[nodiscard]] int server_end() const { return theirs_.get(); }
  void started() { theirs_.reset(); }

  // Passes each line that is a message on to the client as it came, or as `gate` (null: none) has
  // it, and says on stderr what else was written. Until nobody has the other end any more. How many
  // bytes there were.
  [[nodiscard]] std::uint64_t relay(McpClient& client, mcp::Gate* gate) const;

 private:
  McpPipe() = default;
  base::Fd ours_;
  base::Fd theirs_;
};

}  // namespace cordon::app
