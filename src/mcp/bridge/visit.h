// One request of the stateless era and its HTTP exchange: answered once, by JSON, or by a stream if
// anything has to be said before the answer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "mcp/bridge/core.h"
#include "mcp/exchange.h"
#include "mcp/gate.h"
#include "mcp/message.h"

namespace cordon::mcp {

class Visit : public std::enable_shared_from_this<Visit> {
 public:
  Visit(BridgeCore& core, Message request, const Ask& ask, std::shared_ptr<Reply> reply,
        std::unique_ptr<Gate> gate);
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  [[nodiscard]] const Message& request() const { return request_; }
  [[nodiscard]] const Id& id() const { return *request_.id(); }
  [[nodiscard]] bool over() const { return over_; }
  // Whether its gate lets the request through; if not it has been answered.
  [[nodiscard]] bool admitted();

  // The answer, with this request's id; its status follows from the error's code.
  void answer(std::string text);
  void fail(int status, std::string_view reason);
  // Something before the answer. Dropped if the client takes no stream. A client that leaves too
  // much unread loses its stream, as if it had gone.
  void send(std::string text);
  // The stream ends without an answer.
  void close();
  // Called once if the client goes before the end: that is a cancellation.
  void when_gone(std::function<void()> call) { gone_ = std::move(call); }

 private:
  void tell_gate_of_cancellation();
  [[nodiscard]] std::string through_gate(std::string text);
  void finish();

  BridgeCore& core_;
  Message request_;
  std::shared_ptr<Reply> reply_;
  std::unique_ptr<Gate> gate_;
  std::function<void()> gone_;
  bool takes_json_;
  bool takes_stream_;
  bool streams_ = false;
  bool over_ = false;
};

}  // namespace cordon::mcp
