// `cordon mcp run`: an MCP server as a program of its own, between its client and the sandbox.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon mcp run". Returns the exit status.
[[nodiscard]] int mcp_run(std::vector<std::string> arguments);

}  // namespace cordon::app
