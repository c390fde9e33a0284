// What an MCP client says, on its way to the server through a gate: line by line, byte for byte
// what passes. A thread of this object reads the command's stdin.
//
// A server that does not read is waited for, and meanwhile the client, too: nothing piles up here
// but one message and a few.
#pragma once

#include <string>
#include <string_view>
#include <thread>

#include "cordon/process.h"
#include "mcp/gate.h"
#include "mcp_client.h"
#include "wake.h"

namespace cordon::app {

class McpInput {
 public:
  // Until the end of stdin, which becomes the server's, or this object's own. Everything given must
  // outlive it.
  McpInput(Process& process, McpClient& client, mcp::Gate& gate, Wake stop);
  ~McpInput();
  McpInput(const McpInput&) = delete;
  McpInput& operator=(const McpInput&) = delete;

 private:
  void relay();
  // False: there is no more.
  [[nodiscard]] bool read_some();
  [[nodiscard]] bool write_some();
  void take_lines();
  void take(std::string_view line, std::string_view line_end);

  Process& process_;
  McpClient& client_;
  mcp::Gate& gate_;
  const Wake stop_;
  std::string read_;           // not yet a whole line
  std::size_t searched_ = 0;   // so much of it has no line end
  bool in_long_line_ = false;  // which was answered already
  std::string pending_;        // for the server
  std::thread thread_;
};

}  // namespace cordon::app
