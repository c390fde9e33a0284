#include "mcp_command.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/suggest.h"
#include "concat.h"
#include "mcp_run.h"
#include "message.h"

namespace cordon::app {
namespace {

constexpr std::string_view kMcpHelp = "cordon mcp --help";
constexpr std::array<std::string_view, 1> kVerbs = {"run"};

constexpr std::string_view kText =
    R"(Usage: cordon mcp run [OPTIONS] [--] PROGRAM [ARG…]
       cordon mcp run [OPTIONS] --config FILE --name NAME [ARG…]

run runs a server of the Model Context Protocol that talks through its stdin and
stdout, isolated like every program of Cordon: put it in front of the server's
command where your client is configured. What the server writes to stdout goes
on to the client as it came if it is a message; anything else would break the
conversation, so it is said on stderr instead. stderr is the server's log.

When the client closes stdin or is gone, the server has --grace to end by
itself; then it and all it started are ended.

OPTIONS are those of run, see 'cordon run --help', with other defaults:
  --timeout DUR       (none: a server lives as long as its client)
  --workdir           (unless --cwd is given: the server works in a fresh private
                      directory that goes with it)
--json, --redact and --transport are not among them. And:
  --config FILE       take the server from a client's file: "mcpServers" of
                      most clients, "servers" of VS Code
  --name NAME         … the one of this name there; further ARGs are added
  --help              print this

Exit status: as that of run. A server that ends when its client is gone, or is
ended for it, is none of the client's concern: see 'cordon run --help'.

Examples:
  A server that reads one directory, without any network:
    cordon mcp run --read ~/notes -- npx -y some-server ~/notes

  One that your client knows already, with its key from a file:
    cordon mcp run --config ~/client.json --name search --net host \
      --secret API_KEY=file:key
)";

}  // namespace

std::string mcp_help() { return std::string(kText); }

int mcp_command(std::vector<std::string> arguments) {
  if (arguments.empty()) return usage_error("no verb given after mcp", kMcpHelp);
  const std::string verb = std::move(arguments.front());
  arguments.erase(arguments.begin());
  if (verb == "run") return mcp_run(std::move(arguments));
  if (verb == "--help" || verb == "help") return print(mcp_help());
  const std::string what = concat("unknown verb 'mcp ", verb, "'");
  const std::string_view near = base::nearest(verb, kVerbs);
  return usage_error(near.empty() ? what : concat(what, " (did you mean '", near, "'?)"), kMcpHelp);
}

}  // namespace cordon::app
