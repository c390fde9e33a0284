// The stdout of an MCP server, line by line: messages go to the client, and nothing else does.
#pragma once

#include <string_view>

#include "mcp/gate.h"
#include "mcp/message.h"
#include "mcp_client.h"

namespace cordon::app {

class McpWire {
 public:
  // Both must outlive this object; no gate: every message passes.
  McpWire(McpClient& client, mcp::Gate* gate) : client_(client), gate_(gate) {}

  // A line without its end.
  void take(std::string_view line);
  // Part of a line that is longer than a message may be; its end comes by take().
  void take_part(std::string_view part);
  // There will be no more.
  void finish() const;

 private:
  void pass(std::string_view line, const mcp::Parsed& parsed);
  void refuse(std::string_view line, std::string_view why);

  McpClient& client_;
  mcp::Gate* const gate_;
  int refused_ = 0;
  bool in_long_line_ = false;
};

}  // namespace cordon::app
