// MCP servers over HTTP, as a user starts the service and clients use it.
#include <boost/json/value.hpp>
#include <csignal>
#include <filesystem>

#include "fixture.h"
#include "http_exchange.h"
#include "support/eventually.h"

namespace cordon::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A server in a few lines of shell: tells in each result which process it is, and where.
constexpr const char* kServer = R"(
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id": *\("[^"]*"\|[0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}}\n' "$id" ;;
    *'"tools/call"'*) touch used; printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"where":"%s","mark":"%s"}}\n' "$id" "$PWD" "$MARK" ;;
    *) [ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"none"}}\n' "$id" ;;
  esac
done
)";

constexpr const char* kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
    R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})";
constexpr const char* kCall =
    R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{}}})";

class McpServe : public CliTest {
 protected:
  // With what says where it serves on stdout.
  [[nodiscard]] static Running start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"mcp", "serve", "--json", "--grace", "2s"});
    return Command(std::move(arguments)).start();
  }
  [[nodiscard]] static std::vector<std::string> shell(std::vector<std::string> options) {
    options.insert(options.end(), {"--", "sh", "-c", kServer});
    return options;
  }
  // The port that it has chosen; 0: it did not come so far.
  [[nodiscard]] static std::uint16_t port_of(Running& running) {
    if (!running.reads("}\n")) return 0;
    const std::string& line = running.out();
    const std::size_t at = line.find("127.0.0.1:");
    return at == std::string::npos ? std::uint16_t{0}
                                   : static_cast<std::uint16_t>(std::stoi(line.substr(at + 10)));
  }
  [[nodiscard]] static HttpAnswer post(std::uint16_t port, const std::string& body,
                                       const std::string& headers = "",
                                       const std::string& path = "/server/mcp") {
    return exchange(connect_to(port), post_text(path, body, headers));
  }
  // A session; the header that names it.
  [[nodiscard]] static std::string open_session(std::uint16_t port,
                                                const std::string& path = "/server/mcp") {
    const HttpAnswer answer = post(port, kInitialize, "", path);
    EXPECT_EQ(answer.status, 200) << answer.body;
    const std::string session = "Mcp-Session-Id: " + answer.header("mcp-session-id") +
                                "\r\nMcp-Protocol-Version: 2025-06-18\r\n";
    EXPECT_EQ(post(port, R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session, path)
                  .status,
              202);
    return session;
  }
  // What a call in this session says of the process that answers.
  [[nodiscard]] static std::string call(std::uint16_t port, const std::string& session,
                                        const std::string& path = "/server/mcp") {
    const HttpAnswer answer = post(port, kCall, session, path);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body;
  }
  static std::string where(const std::string& body) {
    const std::size_t at = body.find(R"("where":")");
    return at == std::string::npos ? "" : body.substr(at + 9, body.find('"', at + 9) - at - 9);
  }
  static Ended stop(Running& running) {
    running.signal(SIGTERM);
    return running.wait();
  }
};

TEST_F(McpServe, GivesEachSessionAProcessOfItsOwnUntilItIsToldToEnd) {
  Running running = start(shell({"--listen", "127.0.0.1:0"}));
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  const std::string one = open_session(port);
  const std::string other = open_session(port);
  const std::string here = where(call(port, one));
  const std::string there = where(call(port, other));
  EXPECT_NE(here, "");
  EXPECT_NE(here, there) << "each works in a directory of its own";
  EXPECT_TRUE(std::filesystem::exists(here + "/used"));
  const Ended ended = stop(running);  // and no process is left, says the fixture
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("cordon: serving server at http://127.0.0.1:" +
                                   std::to_string(port) + "/server/mcp\n"));
  EXPECT_FALSE(std::filesystem::exists(here));
  EXPECT_FALSE(std::filesystem::exists(there));
}

TEST_F(McpServe, WhatMayNotBeCalledNeverReachesTheServer) {
  Running running = start(shell({"--listen", "127.0.0.1:0", "--deny-tool", "x"}));
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  const std::string session = open_session(port);
  const HttpAnswer denied = post(port, kCall, session);
  EXPECT_EQ(denied.status, 200);
  EXPECT_THAT(denied.body, AllOf(HasSubstr(R"("code":-32602)"), HasSubstr("the tool x is denied")));
  EXPECT_EQ(where(denied.body), "");
  const std::string other =
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"y","arguments":{}}})";
  EXPECT_NE(where(post(port, other, session).body), "");
  EXPECT_EQ(stop(running).status, 0);
}

TEST_F(McpServe, ServesTheServersOfAClientsFile) {
  const std::string script = file("server.sh", kServer);
  const std::string config = file(
      "client.json", R"({"mcpServers":{"one":{"command":"sh","args":[")" + script +
                         R"("],"env":{"MARK":"first"}},"two words":{"command":"sh","args":[")" +
                         script + R"("]},"far":{"url":"https://far.example"}}})");
  Running running =
      start({"--listen", "127.0.0.1:0", "--config", config, "--all", "--read", script});
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  EXPECT_THAT(call(port, open_session(port, "/one/mcp"), "/one/mcp"),
              HasSubstr(R"("mark":"first")"));
  EXPECT_THAT(call(port, open_session(port, "/two%20words/mcp"), "/two%20words/mcp"),
              HasSubstr(R"("mark":"")"));
  EXPECT_EQ(post(port, kInitialize, "", "/far/mcp").status, 404);
  const Ended ended = stop(running);
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("left out: "), HasSubstr("/two%20words/mcp")));
}

TEST_F(McpServe, ServesThoseThatAreNamed) {
  const std::string script = file("server.sh", kServer);
  const std::string entry = R"({"command":"sh","args":[")" + script + R"("]})";
  const std::string config = file("client.json", R"({"servers":{"a":)" + entry + R"(,"b":)" +
                                                     entry + R"(,"c":)" + entry + "}}");
  Running running = start({"--listen", "127.0.0.1:0", "--config", config, "--name", "a", "--name",
                           "c", "--read", script});
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  EXPECT_EQ(post(port, kInitialize, "", "/a/mcp").status, 200);
  EXPECT_EQ(post(port, kInitialize, "", "/b/mcp").status, 404);
  EXPECT_EQ(post(port, kInitialize, "", "/c/mcp").status, 200);
  EXPECT_EQ(stop(running).status, 0);
}

TEST_F(McpServe, IsForThisHostAndForWhoHasTheToken) {
  const std::string token = file("token", "0123456789abcdef0123\n");
  std::filesystem::permissions(token, std::filesystem::perms(0600));
  Running running = start(shell({"--listen", "127.0.0.1:0", "--token-file", token}));
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  const std::string bearer = "Authorization: Bearer 0123456789abcdef0123\r\n";
  EXPECT_EQ(post(port, kInitialize).status, 401);
  EXPECT_EQ(post(port, kInitialize, "Authorization: Bearer 0123456789abcdef0124\r\n").status, 401);
  EXPECT_EQ(post(port, kInitialize, bearer + "Origin: https://evil.example\r\n").status, 403);
  EXPECT_EQ(post(port, kInitialize, bearer).status, 200);
  EXPECT_EQ(stop(running).status, 0);
}

TEST_F(McpServe, ServesOnASocketThatGoesWithIt) {
  const std::string socket = path("socket");
  Running running = start(shell({"--listen", "unix:" + socket, "--as", "notes"}));
  ASSERT_TRUE(running.reads("}\n"));
  EXPECT_THAT(running.out(),
              HasSubstr(R"("url":"http://localhost/notes/mcp","socket":")" + socket));
  EXPECT_EQ(exchange(connect_to(0, socket), post_text("/notes/mcp", kInitialize)).status, 200);
  const Ended second = cordon({"mcp", "serve", "--listen", "unix:" + socket, "--", "true"});
  EXPECT_EQ(second.status, 125);
  EXPECT_THAT(second.err, HasSubstr("is in use"));
  EXPECT_EQ(stop(running).status, 0);
  EXPECT_FALSE(std::filesystem::exists(socket));
}

TEST_F(McpServe, SaysWhatKeepsItFromServing) {
  Running running = start(shell({"--listen", "127.0.0.1:0"}));
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  const Ended taken =
      cordon({"mcp", "serve", "--listen", "127.0.0.1:" + std::to_string(port), "--", "true"});
  EXPECT_EQ(taken.status, 125);
  EXPECT_THAT(taken.err, HasSubstr("is in use"));
  EXPECT_EQ(stop(running).status, 0);

  const Ended missing = cordon({"mcp", "serve", "--listen", "0", "--", "no-such-program"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_THAT(missing.err, HasSubstr("no-such-program was not found"));

  const std::string token = file("token", "0123456789abcdef0123\n");
  std::filesystem::permissions(token, std::filesystem::perms(0644));
  const Ended open = cordon({"mcp", "serve", "--listen", "0", "--token-file", token, "--", "true"});
  EXPECT_EQ(open.status, 125);
  EXPECT_THAT(open.err, HasSubstr("chmod 600"));
}

TEST_F(McpServe, RefusesWhatMakesNoSense) {
  const std::string config = file("client.json", R"({"mcpServers":{"a":{"command":"true"}}})");
  const std::vector<std::pair<std::vector<std::string>, std::string>> all = {
      {{"--listen", "0.0.0.0:0", "--", "true"}, "--allow-remote"},
      {{"--listen", "0.0.0.0:0", "--allow-remote", "--", "true"}, "needs --token-file"},
      {{"--listen", "example.org:80", "--", "true"}, "no address of this host"},
      {{"--all", "--", "true"}, "--all needs --config"},
      {{"--config", config}, "--config needs --name"},
      {{"--config", config, "--name", "a", "--name", "a"}, "two servers are called a"},
      {{"--config", config, "--name", "b"}, "has no server"},
      {{"--as", "a/b", "--", "true"}, "cannot be part of a path"},
      {{"--allow-origin", "example.org", "--", "true"}, "is no origin"},
      {{"--allow-host", "http://x", "--", "true"}, "is no name of a host"},
      {{"--max-sessions", "0", "--", "true"}, "is too few"},
      {{"--max-body", "0", "--", "true"}, "lets nobody ask"},
      {{"--report", "x", "--", "true"}, "--report"},
      {{"--lisen", "1", "--", "true"}, "did you mean --listen"},
      {{}, "no program"},
  };
  for (const auto& [arguments, why] : all) {
    std::vector<std::string> line = {"mcp", "serve"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    const Ended ended = cordon(line);
    EXPECT_EQ(ended.status, 125) << why;
    EXPECT_THAT(ended.err, HasSubstr(why));
  }
  EXPECT_THAT(cordon({"mcp", "serve", "--help"}).out, HasSubstr("Usage: cordon mcp serve"));
}

TEST_F(McpServe, RecordsEachProcessAsARun) {
  const std::string log = path("log");
  Running running = start(shell({"--listen", "127.0.0.1:0", "--audit", log}));
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  (void)call(port, open_session(port));
  (void)call(port, open_session(port));
  EXPECT_EQ(stop(running).status, 0);
  EXPECT_EQ(cordon({"audit", "verify", log}).status, 0);
  const std::string shown = cordon({"audit", "show", log, "--operation", "exit", "--json"}).out;
  EXPECT_EQ(std::ranges::count(shown, '\n'), 2) << shown;
}

TEST_F(McpServe, RecordsEachCallWithoutItsArguments) {
  const std::string log = path("log");
  Running running = start(shell({"--listen", "127.0.0.1:0", "--audit", log, "--deny-tool", "no"}));
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  const std::string session = open_session(port);
  const auto say = [&](std::string_view method, std::string_view params) {
    (void)post(port,
               R"({"jsonrpc":"2.0","id":7,"method":")" + std::string(method) + R"(","params":)" +
                   std::string(params) + "}",
               session);
  };
  say("tools/call", R"({"name":"x","arguments":{"key":"canary"}})");
  say("tools/call", R"({"name":"no"})");
  say("no/such", "{}");
  EXPECT_EQ(stop(running).status, 0);
  const std::string shown = cordon({"audit", "show", log, "--operation", "call"}).out;
  EXPECT_THAT(shown,
              AllOf(HasSubstr("sh: initialize: ok in "), HasSubstr("tools/call x: ok in "),
                    HasSubstr("tools/call no: refused"), HasSubstr("no/such: protocol_error")));
  EXPECT_THAT(cordon({"audit", "show", log, "--json"}).out, Not(HasSubstr("canary")));
  EXPECT_EQ(cordon({"audit", "verify", log}).status, 0);
}

TEST_F(McpServe, EndsAStubbornServerWithAllItStarted) {
  const std::string stubborn = "trap '' TERM INT HUP; (setsid sleep 1000 &)" +
                               std::string(kServer) + "\nwhile :; do sleep 1; done";
  Running running = Command({"mcp", "serve", "--json", "--grace", "100ms", "--listen",
                             "127.0.0.1:0", "--", "sh", "-c", stubborn})
                        .start();
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  (void)call(port, open_session(port));
  EXPECT_EQ(stop(running).status, 0);  // and nothing is left, says the fixture
}

TEST_F(McpServe, LeavesNothingWhenItIsKilled) {
  Running running = start(shell({"--listen", "127.0.0.1:0", "--spare", "2"}));
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  (void)call(port, open_session(port));
  running.signal(SIGKILL);
  EXPECT_EQ(running.wait().status, -SIGKILL);  // and nothing is left, says the fixture
}

TEST_F(McpServe, EndsASessionThatIsDeleted) {
  Running running = start(shell({"--listen", "127.0.0.1:0"}));
  const std::uint16_t port = port_of(running);
  ASSERT_NE(port, 0);
  const std::string session = open_session(port);
  const std::string here = where(call(port, session));
  const HttpAnswer deleted =
      exchange(connect_to(port), "DELETE /server/mcp HTTP/1.1\r\nHost: localhost\r\n" + session +
                                     "Connection: close\r\n\r\n");
  EXPECT_LT(deleted.status, 300);
  EXPECT_EQ(post(port, kCall, session).status, 404);
  EXPECT_TRUE(support::eventually([&] { return !std::filesystem::exists(here); }))
      << "its directory goes with it";
  EXPECT_EQ(stop(running).status, 0);
}

}  // namespace
}  // namespace cordon::cli
