// Who is compared, each in front of the same server: how it is started, and how a tool is called.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/peer.h"
#include "support/samples.h"

namespace cordon::bench {

// A server's command, and what it may read.
struct McpServer {
  std::vector<std::string> command;
  std::string readable;
};

// From npm: server-everything.
[[nodiscard]] McpServer server_everything();
// The tests' own, which answers at once.
[[nodiscard]] McpServer fast_server();

[[nodiscard]] std::vector<std::string> under_run(const McpServer& server);
[[nodiscard]] std::vector<std::string> under_serve(const McpServer& server, std::uint16_t port,
                                                   const std::vector<std::string>& options = {});
[[nodiscard]] std::vector<std::string> under_supergateway(const McpServer& server,
                                                          std::uint16_t port);
[[nodiscard]] std::vector<std::string> under_mcp_proxy(const McpServer& server, std::uint16_t port);
inline constexpr std::string_view kServePath = "/server/mcp";
inline constexpr std::string_view kPeerPath = "/mcp";

inline constexpr std::string_view kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})";
inline constexpr std::string_view kInitialized =
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
inline constexpr std::string_view kEcho =
    R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo",)"
    R"("arguments":{"message":"hello"}}})";
inline constexpr std::string_view kEchoed = "Echo: hello";

// A session over HTTP.
class HttpSession {
 public:
  // Nothing: the bridge does not take it.
  [[nodiscard]] static std::optional<HttpSession> open(std::uint16_t port, std::string_view path);
  void call();
  // The same in two steps.
  void begin_call() { client_.send(path_, kEcho, session_); }
  void end_call();

 private:
  HttpSession(std::uint16_t port, std::string_view path) : client_(port), path_(path) {}
  HttpClient client_;
  std::string path_;
  std::string session_;
};

struct Contender {
  std::string name;
  std::function<void()> call;  // of the tool, until its answer is there
  Samples samples{};
};

// … with what has to live as long as it does.
[[nodiscard]] Contender piped(std::string name, const std::vector<std::string>& command);
[[nodiscard]] Contender served(std::string name, const std::vector<std::string>& command,
                               std::uint16_t port, std::string_view path);
[[nodiscard]] Contender bare_http();

// Small groups of each in turns, and who begins moves on: all see the same machine.
void measure(std::vector<Contender>& contenders, std::size_t samples);

}  // namespace cordon::bench
