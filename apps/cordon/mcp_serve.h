// `cordon mcp serve`: MCP servers that talk through stdin and stdout, over HTTP.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon mcp serve". Returns the exit status.
[[nodiscard]] int mcp_serve(std::vector<std::string> arguments);

}  // namespace cordon::app
