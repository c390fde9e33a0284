// Requests of 2026-07-28, which belong to no session, for one server.
//
// Which era the server speaks is found out once, by asking it (server/discover). One that speaks
// this one gets all requests through one child, side by side. One of the eras with sessions is
// initialised by the bridge, and each of its children has one request at a time, so that what the
// server asks meanwhile belongs to that request: it becomes the request's result, and the next try
// of the client has the answers, which go on to the child that waits for them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mcp/bridge/channel.h"
#include "mcp/bridge/children.h"
#include "mcp/bridge/core.h"
#include "mcp/bridge/modern_request.h"
#include "mcp/bridge/translate.h"
#include "mcp/bridge/visit.h"

namespace cordon::mcp {

class Stateless : public std::enable_shared_from_this<Stateless> {
 public:
  Stateless(BridgeCore& core, const ServedServer& server, std::shared_ptr<Children> children)
      : core_(core), server_(server), children_(std::move(children)) {}

  void handle(const Parsed& body, const Ask& ask, const std::shared_ptr<Reply>& reply);
  // Ends children that nobody has used for so long.
  void sweep(Duration idle);
  void end(std::string_view reason);

 private:
  enum class Era : std::uint8_t { unknown, sessions, modern };

  // A child and, for one with sessions, the request that has it.
  struct Worker {
    std::shared_ptr<Channel> channel{};
    std::unique_ptr<Timer> timer{};
    bool ready = false;
    bool over = false;
    TimePoint used{};
    // With sessions only:
    std::string greeting{};  // the result of initialize
    bool busy = false;
    std::int64_t number = 0;         // of the request that has it
    std::shared_ptr<Visit> visit{};  // none: the client is asked for input
    std::string method{};
    std::string state{};      // names it to that client
    InputRequests inputs{};   // not yet answered
    std::uint64_t asked = 0;  // how many there were
    std::string lacking{};    // a capability that the client has not, and the server asked for
    bool told = true;         // the client knows of all of them
  };
  using WorkerPtr = std::shared_ptr<Worker>;
  struct Listener {
    std::shared_ptr<Visit> visit;
    std::string filter;
  };

  // Starting.
  [[nodiscard]] bool refuse(const Parsed& body, const Ask& ask, Reply& reply);
  void serve_waiting();
  void start_worker();
  void probe(const WorkerPtr& worker);
  void greet(const WorkerPtr& worker);
  void ready(const WorkerPtr& worker);
  void lost(const WorkerPtr& worker, const std::string& reason);
  void give_up(int status, std::string_view reason);
  void from_server(const WorkerPtr& worker, const Message& message);

  // A child of this era.
  void call_modern(const WorkerPtr& worker, const std::shared_ptr<Visit>& visit);
  void from_modern(const WorkerPtr& worker, const Message& message);

  // A child with sessions.
  [[nodiscard]] bool serve_old(const std::shared_ptr<Visit>& visit);
  void make_room();
  void call_old(const WorkerPtr& worker, const std::shared_ptr<Visit>& visit);
  void from_old(const WorkerPtr& worker, const Message& message);
  void ask_input(const WorkerPtr& worker, const Message& message);
  void tell_inputs(const WorkerPtr& worker);
  void resume(const WorkerPtr& worker, const std::shared_ptr<Visit>& visit);
  void attach(const WorkerPtr& worker, const std::shared_ptr<Visit>& visit);
  void release(const WorkerPtr& worker);
  void cancel_old(const WorkerPtr& worker, std::string_view reason);
  void retire(const WorkerPtr& worker);
  void forget_listeners();
  void listen(const WorkerPtr& worker, const std::shared_ptr<Visit>& visit);
  [[nodiscard]] WorkerPtr any_ready() const;

  BridgeCore& core_;
  const ServedServer& server_;
  std::shared_ptr<Children> children_;
  HeaderParams header_params_;
  Era era_ = Era::unknown;
  std::vector<WorkerPtr> workers_;
  std::deque<std::shared_ptr<Visit>> waiting_;
  std::map<std::int64_t, std::shared_ptr<Visit>> visits_;  // of the modern child, by number
  std::vector<Listener> listeners_;
};

}  // namespace cordon::mcp
