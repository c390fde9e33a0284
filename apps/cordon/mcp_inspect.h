// `cordon mcp inspect`: what an MCP server offers, seen from outside its sandbox.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon mcp inspect". Returns the exit status.
[[nodiscard]] int mcp_inspect(std::vector<std::string> arguments);

}  // namespace cordon::app
