// The Reply of one exchange on a connection. One that goes without an answer is answered with 500.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "mcp/exchange.h"
#include "mcp/http/connection.h"

namespace cordon::mcp {

class HttpReply final : public Reply {
 public:
  HttpReply(std::weak_ptr<HttpConnection> connection, std::uint64_t exchange)
      : connection_(std::move(connection)), exchange_(exchange) {}
  ~HttpReply() override {
    if (const auto there = connection_.lock()) there->abandon(exchange_);
  }

  void answer(Answer answer) override {
    if (const auto there = connection_.lock()) there->answer(exchange_, answer);
  }
  void begin_stream(Headers headers) override {
    if (const auto there = connection_.lock()) there->begin_stream(exchange_, headers);
  }
  void send(StreamEvent event) override {
    if (const auto there = connection_.lock()) there->send(exchange_, event);
  }
  void end_stream() override {
    if (const auto there = connection_.lock()) there->end_stream(exchange_);
  }
  [[nodiscard]] std::size_t pending() const override {
    const auto there = connection_.lock();
    return there ? there->pending(exchange_) : 0;
  }
  void when_drained(std::function<void()> call) override {
    if (const auto there = connection_.lock()) there->when_drained(exchange_, std::move(call));
  }
  void when_gone(std::function<void()> call) override {
    const auto there = connection_.lock();
    if (there) return there->when_gone(exchange_, std::move(call));
    call();
  }

 private:
  std::weak_ptr<HttpConnection> connection_;
  std::uint64_t exchange_;
};

}  // namespace cordon::mcp
