// The files in which clients keep the servers that they start: `mcpServers` of most of them, and
// `servers` of VS Code. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cordon/error.h"

namespace cordon::mcp {

// A server that is talked to through its stdin and stdout.
struct ServerEntry {
  std::string name{};
  std::string command{};
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};  // in the file's order
  std::string cwd{};                                       // empty: not said
};

// `file` is what messages call it. Comments and commas at the end of lists are let pass, as clients
// do. Errors: invalid_argument (not such a file; says where), not_found (no server of that name;
// names those that there are), unsupported (one that is reached by a URL, or whose entry leaves
// something to be asked for).
[[nodiscard]] Result<ServerEntry> read_client_config(std::string_view text, std::string_view file,
                                                     std::string_view name);

// The names of all servers there, in the file's order. Error: invalid_argument.
[[nodiscard]] Result<std::vector<std::string>> list_client_config(std::string_view text,
                                                                  std::string_view file);

}  // namespace cordon::mcp
