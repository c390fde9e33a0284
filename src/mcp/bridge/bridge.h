// The bridge of `cordon mcp serve`: HTTP exchanges on one side, MCP servers that talk through stdin
// and stdout on the other, each spoken to in the era of the protocol that it speaks.
//
// Everything here is called in the thread that runs the event loop, and calls back in it; nothing
// blocks. Only what takes the time of a program's start (make_child, Process::start) is done by
// helper threads. Children are ended by shutdown(), or at once (killed) by the destructor; the
// event loop must outlive the bridge.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/process.h"
#include "mcp/exchange.h"
#include "mcp/gate.h"
#include "mcp/message.h"

namespace boost::asio {
class io_context;
}

namespace cordon::mcp {

struct ServedServer {
  std::string name{};  // its route is /NAME/mcp
  // A process that has been created and not started: with Request::timeout kNoTimeout, and
  // Overflow::hold. Its stdin, stdout and stderr are set by the bridge, whatever the request said.
  // Called on a helper thread, possibly on several at once.
  std::function<Result<std::shared_ptr<Process>>()> make_child{};
  // Called in the loop once that child is no more, also when it could not be started. May be empty.
  std::function<void(const std::shared_ptr<Process>& child)> child_ended{};
  // One for each session, or for each request where there is none. May be empty: all passes.
  std::function<std::unique_ptr<Gate>()> make_gate{};
  // One child for all sessions, ids and progress tokens renumbered: only for servers that keep
  // nothing of one client that another must not see.
  bool shared = false;
  std::size_t spare = 0;  // children started ahead
};

struct BridgeLimits {
  std::size_t max_sessions = 1000;           // of all servers together
  std::size_t max_requests = 256;            // in flight for one session
  std::size_t max_stateless = 4096;          // in flight without sessions
  std::size_t pooled = 32;                   // children of a server with sessions for those
  Duration idle = std::chrono::minutes(30);  // a session nobody uses
  Duration start_timeout = std::chrono::seconds(30);  // until `initialize` is answered
  Duration probe_timeout = std::chrono::seconds(5);   // `server/discover`
  Duration request_timeout = std::chrono::hours(1);   // 0: none
  Duration input_timeout = std::chrono::minutes(5);   // held for a client's input
  Duration grace = std::chrono::seconds(5);           // each: EOF, SIGTERM, SIGKILL
  Duration retry = std::chrono::seconds(1);           // told to clients of streams
  // A request of 2025 that is not answered by then gets a stream, which its client can resume.
  Duration stream_after = std::chrono::milliseconds(250);
  // … and then the stream is closed, so that the client comes again for the rest. 0: it stays.
  Duration poll_after{0};
  std::size_t replay_bytes = std::size_t{256} << 10;                   // kept for each session
  std::size_t pending_bytes = std::size_t{4} << 20;                    // on their way, each side
  std::size_t start_threads = 2;                                       // 0: starts hold the loop up
  MessageLimits client{};                                              // of what clients send
  MessageLimits server{.json = {.max_bytes = std::size_t{16} << 20}};  // of what servers send
};

struct BridgeStats {
  std::size_t sessions = 0;
  std::size_t children = 0;  // started and not yet ended, spare ones included
  std::size_t spare = 0;
  std::size_t starting = 0;
  std::size_t in_flight = 0;       // requests of clients that are not answered yet
  std::uint64_t requests = 0;      // … that came
  std::uint64_t refused = 0;       // exchanges answered with a status of 400 or more
  std::uint64_t child_deaths = 0;  // that nobody asked for
};

// A line for the operator: of a server's stderr, of its stdout when that was no message, or of the
// bridge itself.
using BridgeLog = std::function<void(std::string_view server, std::string_view line)>;

class Bridge final : public Handler {
 public:
  Bridge(boost::asio::io_context& loop, std::vector<ServedServer> servers, BridgeLimits limits = {},
         BridgeLog log = {});
  ~Bridge() override;

  [[nodiscard]] bool knows(std::string_view server) const override;
  void handle(Ask ask, std::shared_ptr<Reply> reply) override;

  // Starts the spare children. Without it they are started after the first session has come.
  void warm_up();
  [[nodiscard]] BridgeStats stats() const;
  // Answers what is pending with an error, ends all streams and children in an orderly way (stdin
  // closed, the grace, SIGTERM, the grace, SIGKILL) and then calls `done`, once. What comes
  // meanwhile is answered with 503.
  void shutdown(std::function<void()> done);

  // For whoever runs the loop and does not sleep at once when it has nothing to do: asks the
  // servers that are likely to answer soon, and says whether one did. Before the loop sleeps,
  // rest() has to be called. Without either, another thread tells of every answer.
  bool look();
  void rest();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace cordon::mcp
