#include "mcp_command.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/suggest.h"
#include "concat.h"
#include "mcp_inspect.h"
#include "mcp_run.h"
#include "mcp_serve.h"
#include "mcp_wrap.h"
#include "message.h"

namespace cordon::app {
namespace {

constexpr std::string_view kMcpHelp = "cordon mcp --help";
constexpr auto kVerbs =
    std::to_array<std::string_view>({"run", "serve", "inspect", "wrap", "unwrap"});

constexpr std::string_view kText =
    R"(Usage: cordon mcp run [OPTIONS] [--] PROGRAM [ARG…]
       cordon mcp run [OPTIONS] SERVER [ARG…]
       cordon mcp run [OPTIONS] --config FILE --name NAME [ARG…]
       cordon mcp serve …  (over HTTP: see 'cordon mcp serve --help')
       cordon mcp inspect [OPTIONS] …  (as for run)
       cordon mcp wrap [--name NAME] [--yes] [--dry-run] [--json] FILE [OPTIONS]
       cordon mcp unwrap [--name NAME] [--yes] [--dry-run] [--json] FILE

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
  --set KEY=VALUE     what a SERVER leaves to be said; repeatable. A secret one is
                      given by --secret KEY=SOURCE instead
  --package TYPE      of several packages in a server.json that of this type: npm,
                      pypi, nuget or mcpb
  --srt FILE          grant what settings of the sandbox runtime (srt) allow, also
                      those of VS Code's mcp.json; what cannot be kept is refused
  --allow-tool NAME   only tools of this name may be called; repeatable, * stands
                      for any characters. Others are not listed either
  --deny-tool NAME    tools of this name may not; repeatable
  --help              print this
With one of these two, a policy that speaks of tools, or --audit, each message
is looked at, and with --audit each call is recorded: see docs/mcp.md.

inspect starts the server in the same way, says what it offers, and what it was
refused meanwhile. With OPTIONS of mcp run and:
  --call TOOL         call this tool and print its result
  --arg KEY=VALUE     … with this argument; repeatable
  --args JSON         … with all of these, an object
  --wait DUR          for each answer (30s)
  --json              print one JSON object

SERVER, which is told by what is there; behind -- it is a PROGRAM in any case:
  FILE.mcpb           a bundle: unpacked into a private directory for this run, and
                      the server may read it
  DIRECTORY           the folder of a bundle, or of one of these files
  server.json         as in the registry: run by npx, uvx or dnx as you have them
  manifest.json       of a bundle, or a manifest of Cordon (also manifest.toml)

wrap rewrites a client's FILE so that its servers run under Cordon with these
OPTIONS, which are those of run; unwrap takes that back. Only "command" and the
beginning of "args" change. Both show the lines that change and ask:
  --name NAME         only this server; repeatable
  --yes               do not ask
  --dry-run           write nothing
  --json              print one JSON object instead; with --yes or --dry-run
wrap leaves the file as it was beside it, with .cordon-backup behind its name.

Exit status: as that of run. A server that ends when its client is gone, or is
ended for it, is none of the client's concern: see 'cordon run --help'. Of
inspect: 1 if the server does not answer, or with an error, or a tool fails.

Examples:
  All servers of a client, one of them with what it needs:
    cordon mcp wrap --name notes ~/client.json --read ~/notes
    cordon mcp wrap ~/client.json

  A server that reads one directory, without any network:
    cordon mcp run --read ~/notes -- npx -y some-server ~/notes

  One that your client knows already, with its key from a file:
    cordon mcp run --config ~/client.json --name search --net host \
      --secret API_KEY=file:key

  What a server offers, and one of its tools:
    cordon mcp inspect -- npx -y some-server
    cordon mcp inspect --call echo --arg message=hello -- npx -y some-server
)";

}  // namespace

std::string mcp_help() { return std::string(kText); }

int mcp_command(std::vector<std::string> arguments) {
  if (arguments.empty()) return usage_error("no verb given after mcp", kMcpHelp);
  const std::string verb = std::move(arguments.front());
  arguments.erase(arguments.begin());
  if (verb == "run") return mcp_run(std::move(arguments));
  if (verb == "serve") return mcp_serve(std::move(arguments));
  if (verb == "wrap") return mcp_wrap(WrapVerb::wrap, std::move(arguments));
  if (verb == "unwrap") return mcp_wrap(WrapVerb::unwrap, std::move(arguments));
  if (verb == "inspect") return mcp_inspect(std::move(arguments));
  if (verb == "--help" || verb == "help") return print(mcp_help());
  const std::string what = concat("unknown verb 'mcp ", verb, "'");
  const std::string_view near = base::nearest(verb, kVerbs);
  return usage_error(near.empty() ? what : concat(what, " (did you mean '", near, "'?)"), kMcpHelp);
}

}  // namespace cordon::app
