// What SERVER may be where an MCP server is to be run: a bundle or its folder, a registry's
// server.json, a manifest of ours, an entry of a client's file, or a command. Whatever it is, in
// the end there is a Request. For every verb of `cordon mcp` that runs one.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "command_line.h"
#include "cordon/error.h"
#include "cordon/workdir.h"
#include "mcp/source/launch.h"
#include "run_options.h"

namespace cordon::app {

inline constexpr auto kServerOptions = std::to_array<OptionSpec>({
    {"--config", "FILE", "take the server from a client's file"},
    {"--name", "NAME", "the one of this name there"},
    {"--set", "KEY=VALUE", "what the server's description leaves to be said"},
    {"--package", "TYPE", "the package of this type in a server.json"},
    {"--srt", "FILE", "grant what these settings of the sandbox runtime allow"},
    {"--allow-tool", "NAME", "only tools of this name may be called; repeatable"},
    {"--deny-tool", "NAME", "tools of this name may not be called; repeatable"},
    {"--wrapped", "HOW", "written by 'cordon mcp wrap'"},
});

// What those options say.
struct ServerAsk {
  std::string config{};
  std::string name{};
  std::string package{};
  std::string srt{};
  mcp::Given given{};
  ToolAsk tools{};
  bool command = false;  // what is run came behind "--": a command, whatever it looks like

  [[nodiscard]] bool from_client() const { return !config.empty() || !name.empty(); }
  // Error: invalid_argument.
  [[nodiscard]] Result<void> take(std::string_view option, const std::string& value);
};

struct ResolvedServer {
  std::optional<WorkDir> unpacked{};  // a bundle's; removed with this, so keep it until the end
  std::string hint{};                 // something to be said before the run; may be empty
};

// `options` names a SERVER by its program (or `ask` does); afterwards it names what is to be run,
// with the grants, variables and secrets that this needs. Errors of the stage "usage" are about the
// options; else about the server, naming file and place. After an error nothing is left behind.
[[nodiscard]] Result<ResolvedServer> resolve_server(RunOptions& options, const ServerAsk& ask);

}  // namespace cordon::app
