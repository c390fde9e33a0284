// One session of 2024-11-05 … 2025-11-25: what its client and its server say to each other, and on
// which HTTP exchange each of the server's messages goes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/bridge/channel.h"
#include "mcp/bridge/core.h"
#include "mcp/bridge/streams.h"

namespace cordon::mcp {

class Session : public std::enable_shared_from_this<Session> {
 public:
  struct Parts {
    std::string id;
    std::string server;
    std::shared_ptr<Channel> channel;
    std::unique_ptr<Gate> gate;     // none: all passes
    bool own_child = true;          // it ends with the session
    std::function<void()> ended{};  // once
    std::function<void(const std::string& result)> greeted{};
  };
  Session(BridgeCore& core, Parts parts);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The first request, answered with the session's id. `known`: the server's result, when it was
  // asked before.
  void initialize(const Message& request, const Ask& ask, std::shared_ptr<Reply> reply,
                  const std::optional<std::string>& known);
  void post(const Parsed& body, const Ask& ask, std::shared_ptr<Reply> reply);
  void get(const Ask& ask, std::shared_ptr<Reply> reply);
  // Answers what is pending with an error and ends what belongs to the session.
  void end(std::string_view reason);

  // What the server said that names none of its requests.
  void from_server(const Message& message);

  [[nodiscard]] const std::string& id() const { return parts_.id; }
  [[nodiscard]] const std::string& server() const { return parts_.server; }
  [[nodiscard]] Channel& channel() { return *parts_.channel; }
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] bool owns(std::int64_t call) const { return numbers_.contains(call); }
  [[nodiscard]] std::size_t in_flight() const { return numbers_.size(); }
  // Nobody waits for anything, and nobody has come for so long.
  [[nodiscard]] bool idle_for(Duration time) const;
  [[nodiscard]] bool takes_batches() const { return version_ == "2025-03-26"; }
  // Of the server's answer to initialize; empty until then.
  [[nodiscard]] const std::string& greeting() const { return greeting_; }

 private:
  // One POST with requests in it, until all of them are answered.
  struct Exchange {
    std::shared_ptr<Reply> reply{};  // none: its client has gone
    bool takes_json = false;
    bool takes_stream = false;
    bool batch = false;
    std::optional<Streams::Number> stream{};
    std::size_t waiting = 0;
    std::vector<std::string> answers{};
    std::unique_ptr<Timer> timer{};
  };
  using ExchangePtr = std::shared_ptr<Exchange>;
  struct Asked {
    std::int64_t number = 0;
    ExchangePtr exchange{};
  };

  // What a session keeps when its server speaks 2026-07-28 only: see session_modern.cc.
  struct Round {
    Message request;  // the client's, until the server has all that it asks for
    std::map<std::string, std::string> responses{};
    std::size_t missing = 0;
    std::string state{};
  };
  struct Modern {
    std::string capabilities{};  // of the client
    std::string client{};
    std::string level{};           // of the log, as JSON; empty: none
    std::set<std::string> uris{};  // subscribed, as JSON
    std::int64_t listening = 0;
    std::map<Id, std::pair<Id, std::string>> asks{};  // of ours: the client's request, the key
    std::map<Id, Round> rounds{};
    std::uint64_t last = 0;
  };
  void become_modern(const Message& initialize);
  void try_modern(const ExchangePtr& exchange, const Message& initialize, const Message& error);
  // Whether it was answered without the server.
  [[nodiscard]] bool answer_modern(const Message& message, const ExchangePtr& exchange);
  [[nodiscard]] std::optional<Message> modern_request(const Message& message,
                                                      std::string_view more) const;
  [[nodiscard]] bool begin_round(const Id& id, const Message& answer);
  [[nodiscard]] bool end_round(const Message& response);
  void listen_again();

  [[nodiscard]] Call make_call(const Id& id, const ExchangePtr& exchange);
  void not_begun(int status, std::string_view reason);
  void greet(const ExchangePtr& exchange, const Id& id, std::string_view result);
  void take_request(const Message& message, const ExchangePtr& exchange);
  void take_notification(const Message& message);
  [[nodiscard]] bool take_response(const Message& message);
  void take_cancelled(const Message& message);

  void answered(const Id& id, std::string text);
  void add_answer(const ExchangePtr& exchange, std::string text);
  void complete(const ExchangePtr& exchange);
  void send_related(const ExchangePtr& exchange, std::string text);
  void open_stream(Exchange& exchange);
  void await(const ExchangePtr& exchange);
  void expire(const ExchangePtr& exchange);
  // Where a message goes that names no request: 0 and no exchange for the standing stream.
  [[nodiscard]] ExchangePtr place_for(const Message& message) const;
  [[nodiscard]] std::string through_gate(std::string text);
  [[nodiscard]] Headers headers() const { return {{"mcp-session-id", parts_.id}}; }
  void touch() { used_ = core_.loop->now(); }

  BridgeCore& core_;
  Parts parts_;
  Streams streams_;
  std::map<Id, Asked> asked_;           // by the client
  std::map<std::int64_t, Id> numbers_;  // the same by the channel's numbers
  std::set<Id> wanted_;                 // asked by the server
  std::function<void(int status, std::string_view reason)> not_greeted_;  // until it is
  std::unique_ptr<Modern> modern_;
  std::string version_;
  std::string greeting_;
  TimePoint used_{};
  bool over_ = false;
};

}  // namespace cordon::mcp
