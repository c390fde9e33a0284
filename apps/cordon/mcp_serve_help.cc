#include "mcp_serve_options.h"

namespace cordon::app {

std::string serve_help() {
  return R"(Usage: cordon mcp serve [OPTIONS] [--] PROGRAM [ARG…]
       cordon mcp serve [OPTIONS] SERVER [ARG…]
       cordon mcp serve [OPTIONS] --config FILE --name NAME…
       cordon mcp serve [OPTIONS] --config FILE --all

serve makes servers of the Model Context Protocol that talk through stdin and
stdout available over HTTP, each at /NAME/mcp. Each session has a process of its
own, isolated as by 'cordon mcp run', which ends with the session. Ctrl-C or
SIGTERM ends the service and all servers.

Where:
  --listen ADDRESS    127.0.0.1:PORT (8808; 0: any that is free) or unix:PATH;
                      repeatable
  --as NAME           what the server is called in the path (server, or its name
                      in FILE)
  --config FILE       take servers from a client's file: "mcpServers" of most
                      clients, "servers" of VS Code
  --name NAME         … the one of this name there; repeatable
  --all               … all of them
  --set KEY=VALUE, --package TYPE, --srt FILE
                      of a SERVER, as for 'cordon mcp run'
Who:
  --token-file FILE   clients must send "Authorization: Bearer TOKEN" with what is
                      in FILE, which only you may read
  --allow-host NAME   a further name that clients call it by, besides localhost,
                      such as that of a proxy in front of it; repeatable
  --allow-origin URL  web pages of this origin may use it; repeatable
  --allow-remote      ADDRESS may be one that other hosts reach; needs a token
How much:
  --idle DUR          end a session that nobody uses for so long (30m)
  --poll DUR          close the stream of an answer that takes longer: the client
                      comes again for it (2025-11-25 only; default: it stays open)
  --max-sessions N    at once (1000)
  --spare N           processes started ahead for each server (0)
  --shared            one process for all sessions: only for servers that keep
                      nothing of one client that another must not see
  --max-body SIZE     of a request (4M)
  --max-rate N        requests a second of all clients together
  --json              also print one line of JSON on stdout once it serves
  --help              print this

All other OPTIONS are those of 'cordon mcp run' and hold for each process. There
is no TLS: put a proxy in front for that, see docs/mcp.md.

Exit status: 0 when it was told to end; 125, 126 or 127 when it could not begin,
as that of run.

Examples:
  One server, for clients on this host:
    cordon mcp serve --read ~/notes -- npx -y some-server ~/notes

  All servers of a client, on a port of its own, for who has the token:
    openssl rand -hex 32 > token && chmod 600 token
    cordon mcp serve --config ~/client.json --all --listen 127.0.0.1:9000 \
      --token-file token
)";
}

}  // namespace cordon::app
