// The verb `mcp`: servers of the Model Context Protocol.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon mcp". Returns the exit status.
[[nodiscard]] int mcp_command(std::vector<std::string> arguments);
[[nodiscard]] std::string mcp_help();

}  // namespace cordon::app
