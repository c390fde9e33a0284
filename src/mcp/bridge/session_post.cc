// What the client of a session posts, and how its requests are answered.
#include <utility>

#include "mcp/bridge/rewrite.h"
#include "mcp/bridge/session.h"

namespace cordon::mcp {

void Session::post(const Parsed& body, const Ask& ask, std::shared_ptr<Reply> reply) {
  touch();
  std::size_t requests = 0;
  for (const auto& message : body.messages) {
    if (message && message->asks()) ++requests;
  }
  if (channel().link().queued() > core_.limits.pending_bytes) {
    return core_.refuse(*reply, 503, kInternalError, "the server is behind with its input");
  }
  if (numbers_.size() + requests > core_.limits.max_requests) {
    return core_.refuse(*reply, 429, kInternalError, "too many requests of this session at once");
  }
  // Nothing answers a message that is none, unless it is one of several.
  const auto exchange = std::make_shared<Exchange>();
  exchange->reply = reply;
  exchange->takes_json = (ask.takes_json && !ask.prefers_stream) || !ask.takes_stream;
  exchange->takes_stream = ask.takes_stream;
  exchange->batch = body.batch;
  exchange->waiting = 1;  // until all are sent
  for (const auto& message : body.messages) {
    if (!message) {
      ++exchange->waiting;
      add_answer(exchange, make_error(message.error()));
    } else if (message->asks()) {
      take_request(*message, exchange);
    } else if (message->answers()) {
      if (!take_response(*message) && !body.batch) {
        return core_.refuse(*reply, 400, kInvalidRequest,
                            "the server has not asked anything with this id", message->id());
      }
    } else {
      take_notification(*message);
    }
    if (over_) return;
  }
  --exchange->waiting;
  if (exchange->waiting == 0 && exchange->answers.empty() && !exchange->stream) {
    return reply->answer({.status = 202, .headers = {}, .body = {}});
  }
  if (exchange->waiting == 0) return complete(exchange);
  if (exchange->reply) {
    reply->when_gone([weak = std::weak_ptr(exchange)] {
      // Not a cancellation. Who had a stream may come again for it.
      if (const auto left = weak.lock()) left->reply.reset();
    });
  }
  await(exchange);
}

void Session::take_request(const Message& message, const ExchangePtr& exchange) {
  const Id& id = *message.id();
  ++core_.counts.requests;
  ++exchange->waiting;
  if (asked_.contains(id)) {
    return add_answer(exchange,
                      make_error(id, kInvalidRequest, "this id is that of a request in flight"));
  }
  if (message.method() == "initialize") {
    return add_answer(exchange, make_error(id, kInvalidRequest, "the session has begun already"));
  }
  if (parts_.gate) {
    if (auto refusal = parts_.gate->from_client(message)) {
      return add_answer(exchange, *std::move(refusal));
    }
  }
  if (modern_ && answer_modern(message, exchange)) return;
  const auto translated = modern_ ? modern_request(message, {}) : std::optional<Message>();
  ++core_.counts.in_flight;
  const std::int64_t number =
      channel().call(translated ? *translated : message, make_call(id, exchange));
  asked_.emplace(id, Asked{.number = number, .exchange = exchange});
  numbers_.emplace(number, id);
  if (modern_) modern_->rounds.insert_or_assign(id, Round{.request = message});
}

Call Session::make_call(const Id& id, const ExchangePtr& exchange) {
  Call call;
  call.answered = [weak = weak_from_this(), id](const Message& answer) {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    if (self->modern_ && self->begin_round(id, answer)) return;
    self->answered(id, self->through_gate(answer.with_id(id)));
  };
  call.related = [weak = weak_from_this(), exchange](const Message&, std::string text) {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    text = self->through_gate(std::move(text));
    if (!text.empty()) self->send_related(exchange, std::move(text));
  };
  call.lost = [weak = weak_from_this(), id](const std::string& reason) {
    const auto self = weak.lock();
    if (self && !self->over_) {
      self->answered(id, self->through_gate(make_error(id, kInternalError, reason)));
    }
  };
  return call;
}

void Session::take_notification(const Message& message) {
  if (parts_.gate && parts_.gate->from_client(message)) return;
  if (message.method() == "notifications/cancelled") return take_cancelled(message);
  // A shared server has begun once for all, and one of 2026-07-28 knows no other notification.
  if (message.method() == "notifications/initialized" && !parts_.own_child) return;
  if (modern_) return;
  channel().send(message.text());
}

void Session::take_cancelled(const Message& message) {
  const auto request = member(message.params(), "requestId");
  const auto id = request ? Id::read(*request) : std::nullopt;
  const auto found = id ? asked_.find(*id) : asked_.end();
  if (found == asked_.end()) return;  // answered meanwhile
  channel().cancel(found->second.number, string_member(message.params(), "reason").value_or(""));
  // Nobody waits for it, but the exchange has to come to its end.
  answered(*id, make_error(id, kInternalError, "cancelled by the client"));
}

bool Session::take_response(const Message& message) {
  if (modern_ && message.id() && modern_->asks.contains(*message.id())) return end_round(message);
  if (!message.id() || wanted_.erase(*message.id()) == 0) return false;
  if (parts_.gate && parts_.gate->from_client(message)) {
    channel().send(make_error(message.id(), kInternalError, "the answer was not let through"));
    return true;
  }
  channel().send(message.text());
  return true;
}

void Session::answered(const Id& id, std::string text) {
  const auto found = asked_.find(id);
  if (found == asked_.end()) return;
  const auto exchange = found->second.exchange;
  numbers_.erase(found->second.number);
  asked_.erase(found);
  if (modern_) modern_->rounds.erase(id);
  --core_.counts.in_flight;
  touch();
  add_answer(exchange, std::move(text));
}

void Session::add_answer(const ExchangePtr& exchange, std::string text) {
  if (!exchange->takes_json && !exchange->stream && exchange->reply) open_stream(*exchange);
  if (exchange->stream) {
    streams_.send(*exchange->stream, std::move(text));
  } else {
    exchange->answers.push_back(std::move(text));
  }
  if (--exchange->waiting == 0) complete(exchange);
}

void Session::complete(const ExchangePtr& exchange) {
  exchange->timer.reset();
  if (exchange->stream) return streams_.finish(*exchange->stream);
  if (!exchange->reply) return;
  std::string body;
  for (const std::string& answer : exchange->answers) {
    body += body.empty() ? "" : ",";
    body += answer;
  }
  if (exchange->batch) body = "[" + body + "]";
  std::exchange(exchange->reply, nullptr)
      ->answer({.status = 200, .headers = {}, .body = std::move(body)});
}

void Session::open_stream(Exchange& exchange) {
  exchange.stream = streams_.open(std::move(exchange.reply), headers());
  exchange.reply.reset();
  for (std::string& answer : exchange.answers) streams_.send(*exchange.stream, std::move(answer));
  exchange.answers.clear();
}

void Session::send_related(const ExchangePtr& exchange, std::string text) {
  if (!exchange->stream && exchange->takes_stream && exchange->reply) open_stream(*exchange);
  streams_.send(exchange->stream.value_or(0), std::move(text));
}

// First the patience to answer by JSON, then that for the client's connection, then for the server.
void Session::await(const ExchangePtr& exchange) {
  exchange->timer = core_.loop->timer();
  const auto later = [weak = weak_from_this(),
                      exchange = std::weak_ptr(exchange)](const auto& then) {
    return [weak, exchange, then] {
      const auto self = weak.lock();
      const auto one = exchange.lock();
      if (self && one && !self->over_ && one->waiting > 0) then(*self, one);
    };
  };
  const auto give_up = [this, later](Exchange& one) {
    if (core_.limits.request_timeout > Duration::zero()) {
      one.timer->start(core_.limits.request_timeout,
                       later([](Session& self, const ExchangePtr& late) { self.expire(late); }));
    }
  };
  if (!exchange->takes_stream || exchange->stream) return give_up(*exchange);
  exchange->timer->start(
      core_.limits.stream_after, later([give_up, later](Session& self, const ExchangePtr& slow) {
        if (slow->reply && !slow->stream) self.open_stream(*slow);
        if (self.core_.limits.poll_after <= Duration::zero() || !slow->stream ||
            self.version_ != "2025-11-25") {
          return give_up(*slow);
        }
        slow->timer->start(self.core_.limits.poll_after,
                           later([give_up](Session& one, const ExchangePtr& polled) {
                             one.streams_.interrupt(*polled->stream);
                             give_up(*polled);
                           }));
      }));
}

void Session::expire(const ExchangePtr& exchange) {
  std::vector<std::pair<Id, std::int64_t>> late;
  for (const auto& [id, one] : asked_) {
    if (one.exchange == exchange) late.emplace_back(id, one.number);
  }
  for (const auto& [id, number] : late) {
    channel().cancel(number, "time-out");
    answered(id, make_error(id, kInternalError, "the server did not answer in time"));
  }
}

}  // namespace cordon::mcp
