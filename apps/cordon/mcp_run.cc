#include "mcp_run.h"

#include <utility>

#include "base/errors.h"
#include "mcp_command.h"
#include "mcp_server.h"
#include "message.h"
#include "run_command.h"

namespace cordon::app {

int mcp_run(std::vector<std::string> arguments) {
  auto server = parse_server_options(std::move(arguments));
  if (!server) return server_failure(server.error());
  if (server->options.help) return print(mcp_help());
  if (server->options.json) {
    return server_failure(base::fail(ErrorCode::invalid_argument, "usage",
                                     "--json: a server's output is its client's")
                              .error());
  }
  if (const auto ready = become_server(server->options); !ready) {
    return server_failure(ready.error());
  }
  if (!server->resolved.hint.empty()) complain(server->resolved.hint);
  return run_asked(std::move(server->options));
}

}  // namespace cordon::app
