// A bridge on scripted servers, and clients that keep what they get.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cordon/memory.h"
#include "mcp/bridge/bridge.h"
#include "mcp/json_view.h"

namespace cordon::mcp {

using memory::Program;
using memory::Self;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A client's side of one exchange.
class FakeReply final : public Reply {
 public:
  void answer(Answer answer) override {
    EXPECT_EQ(status, 0) << "answered twice";
    status = answer.status;
    headers = std::move(answer.headers);
    body = std::move(answer.body);
    over = true;
  }
  void begin_stream(Headers given) override {
    EXPECT_EQ(status, 0) << "answered twice";
    status = 200;
    streams = true;
    headers = std::move(given);
  }
  void send(StreamEvent event) override {
    EXPECT_TRUE(streams && !over);
    if (gone) return;
    if (slow) waiting += event.data.size();
    events.push_back(std::move(event));
  }
  void end_stream() override { over = true; }
  [[nodiscard]] std::size_t pending() const override { return waiting; }
  void when_drained(std::function<void()> call) override { drained = std::move(call); }
  void when_gone(std::function<void()> call) override { gone_calls.push_back(std::move(call)); }

  void leave() {
    gone = true;
    for (const auto& call : std::exchange(gone_calls, {})) call();
  }
  void catch_up() {
    waiting = 0;
    if (const auto call = std::exchange(drained, {})) call();
  }
  [[nodiscard]] std::string header(std::string_view name) const {
    for (const auto& [known, value] : headers) {
      if (known == name) return value;
    }
    return {};
  }
  // Messages of the stream, or the body.
  [[nodiscard]] std::vector<std::string> messages() const {
    std::vector<std::string> all;
    if (!body.empty()) all.push_back(body);
    for (const StreamEvent& event : events) {
      if (!event.data.empty()) all.push_back(event.data);
    }
    return all;
  }
  [[nodiscard]] std::string last() const { return messages().empty() ? "" : messages().back(); }

  int status = 0;
  Headers headers;
  std::string body;
  std::vector<StreamEvent> events;
  bool streams = false;
  bool over = false;
  bool gone = false;
  bool slow = false;
  std::size_t waiting = 0;
  std::function<void()> drained;
  std::vector<std::function<void()>> gone_calls;
};

// What a scripted server does with a request; appends its answers to `self`.
using Respond = std::function<void(Self& self, const Message& message)>;

inline void say(Self& self, std::string text) { self.out(std::move(text) + "\n"); }

inline std::string greeting(std::string_view version = "2025-11-25") {
  return R"({"protocolVersion":")" + std::string(version) +
         R"(","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}})";
}

// Answers initialize, and ping by {}; everything else is `respond`'s.
inline Program old_server(Respond respond = {}, std::string version = "2025-11-25") {
  return Program().each_line(
      [respond = std::move(respond), version](Self& self, std::string_view line) {
        const auto message = parse_one(line);
        if (!message) return say(self, "unreadable: " + std::string(line));
        if (message->method() == "initialize") {
          return say(self, make_response(*message->id(), greeting(version)));
        }
        if (message->method() == "server/discover") {
          return say(self, make_error(message->id(), kMethodNotFound, "no such method"));
        }
        if (message->method() == "ping") return say(self, make_response(*message->id(), "{}"));
        if (respond) respond(self, *message);
      });
}

class BridgeTest : public ::testing::Test {
 protected:
  ~BridgeTest() override {
    bridge_.reset();
    io_.restart();
    io_.poll();
  }

  void serve(Program program, ServedServer server = {}) {
    manager_.add("server", std::move(program));
    server.name = "s";
    server.make_child = [this] {
      Request request;
      request.program = "server";
      request.timeout = kNoTimeout;
      request.event_buffer = 64 * 1024;
      return manager_.create(std::move(request));
    };
    std::vector<ServedServer> servers;
    servers.push_back(std::move(server));
    bridge_ = std::make_unique<Bridge>(
        io_, std::move(servers), limits_,
        [this](std::string_view, std::string_view line) { log_.emplace_back(line); });
  }

  // Until it is true, at most some seconds of real time.
  [[nodiscard]] bool run_until(const std::function<bool()>& done, seconds patience = seconds(10)) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    io_.restart();
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      turn();
    }
    return true;
  }
  // The servers' time goes on by a millisecond, whatever the loop has to do meanwhile.
  void turn() {
    manager_.advance(milliseconds(1));
    if (io_.poll() == 0) io_.run_one_for(milliseconds(1));
  }
  // Until nothing more comes of what was done before.
  void settle() {
    io_.restart();
    for (int i = 0; i < 20; ++i) turn();
  }

  [[nodiscard]] std::shared_ptr<FakeReply> ask(Ask ask) {
    ask.server = "s";
    auto reply = std::make_shared<FakeReply>();
    bridge_->handle(std::move(ask), reply);
    return reply;
  }
  [[nodiscard]] std::shared_ptr<FakeReply> post(std::string body, Headers headers = {}) {
    return ask({.verb = Verb::post,
                .headers = std::move(headers),
                .takes_json = true,
                .takes_stream = true,
                .body = std::move(body)});
  }
  [[nodiscard]] std::shared_ptr<FakeReply> get(Headers headers) {
    return ask({.verb = Verb::get, .headers = std::move(headers), .takes_stream = true});
  }
  [[nodiscard]] std::shared_ptr<FakeReply> finished(std::shared_ptr<FakeReply> reply) {
    EXPECT_TRUE(run_until([&] { return reply->over; })) << "no answer";
    return reply;
  }

  static std::string begin(std::string_view version = "2025-11-25") {
    return R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
           std::string(version) +
           R"(","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})";
  }
  static std::string request(int id, std::string_view method, std::string_view params = "{}") {
    return make_request(Id::number(id), method, params);
  }
  // Its headers.
  [[nodiscard]] Headers session() {
    const auto reply = finished(post(begin()));
    EXPECT_EQ(reply->status, 200) << reply->body;
    return {{"mcp-session-id", reply->header("mcp-session-id")},
            {"mcp-protocol-version", "2025-11-25"}};
  }
  [[nodiscard]] std::size_t running() const { return manager_.live_programs(); }

  boost::asio::io_context io_{1};
  memory::Manager manager_{{.self_advancing = false}};
  BridgeLimits limits_{.start_threads = 0};
  std::unique_ptr<Bridge> bridge_;
  std::vector<std::string> log_;
};

}  // namespace cordon::mcp
