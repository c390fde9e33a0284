#include "mcp/bridge/session.h"

#include <utility>

#include "mcp/bridge/rewrite.h"

namespace cordon::mcp {
namespace {

constexpr std::string_view kWithPriming = "2025-11-25";

// What changes whatever a client may be waiting for.
bool concerns_nobody(std::string_view method) {
  return method.ends_with("/list_changed") || method == "notifications/resources/updated";
}

}  // namespace

Session::Session(BridgeCore& core, Parts parts)
    : core_(core),
      parts_(std::move(parts)),
      streams_({.keep = core.limits.replay_bytes,
                .pending = core.limits.pending_bytes,
                .retry = core.limits.retry,
                .priming = false,
                // A child of its own waits for its client; a shared one does not wait for one of
                // many, whose connection ends instead. It can come again for what was kept.
                .full =
                    [this] {
                      if (parts_.own_child) return parts_.channel->link().hold(true);
                      core_.loop->post([weak = weak_from_this()] {
                        if (const auto self = weak.lock()) self->streams_.end();
                      });
                    },
                .drained =
                    [this] {
                      if (parts_.own_child) parts_.channel->link().hold(false);
                    }}) {
  touch();
}

Session::~Session() = default;

void Session::initialize(const Message& request, const Ask& ask, std::shared_ptr<Reply> reply,
                         const std::optional<std::string>& known) {
  const auto exchange = std::make_shared<Exchange>();
  exchange->reply = std::move(reply);
  exchange->takes_json = ask.takes_json;
  exchange->takes_stream = ask.takes_stream;
  const Id id = *request.id();
  if (parts_.gate) {
    if (auto refusal = parts_.gate->from_client(request)) {
      exchange->reply->answer({.status = 200, .headers = {}, .body = *std::move(refusal)});
      return end("refused");
    }
  }
  if (known) {
    if (channel().modern()) become_modern(request);
    return greet(exchange, id, *known);
  }

  not_greeted_ = [this, exchange, id](int status, std::string_view reason) {
    core_.refuse(*exchange->reply, status, kInternalError, reason, id);
  };
  exchange->timer = core_.loop->timer();
  exchange->timer->start(core_.limits.start_timeout, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self) self->not_begun(504, "the server did not answer initialize in time");
  });
  Call call;
  call.answered = [weak = weak_from_this(), exchange, request](const Message& answer) {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    if (answer.kind() != Message::Kind::response) {
      return self->try_modern(exchange, request, answer);
    }
    exchange->timer.reset();
    self->not_greeted_ = {};
    self->greet(exchange, *request.id(), answer.result());
  };
  call.lost = [weak = weak_from_this()](const std::string& reason) {
    if (const auto self = weak.lock()) self->not_begun(502, reason);
  };
  (void)parts_.channel->call(request, std::move(call));
}

void Session::not_begun(int status, std::string_view reason) {
  if (over_) return;
  if (const auto tell = std::exchange(not_greeted_, {})) tell(status, reason);
  end(reason);
}

void Session::greet(const ExchangePtr& exchange, const Id& id, std::string_view result) {
  greeting_ = result;
  version_ = string_member(result, "protocolVersion").value_or("");
  streams_.set_priming(version_ == kWithPriming);
  touch();
  if (parts_.greeted) parts_.greeted(greeting_);
  if (modern_) listen_again();
  std::string text = through_gate(make_response(id, result));
  if (exchange->takes_json || !exchange->takes_stream) {
    return exchange->reply->answer({.status = 200, .headers = headers(), .body = std::move(text)});
  }
  exchange->reply->begin_stream(headers());
  exchange->reply->send({.id = {}, .data = std::move(text), .retry = {}, .priming = false});
  exchange->reply->end_stream();
}

std::string Session::through_gate(std::string text) {
  if (!parts_.gate) return text;
  const auto message = parse_one(text, core_.limits.server);
  if (!message) return text;
  auto other = parts_.gate->from_server(*message);
  return other ? *std::move(other) : std::move(text);
}

Session::ExchangePtr Session::place_for(const Message& message) const {
  if (concerns_nobody(message.method())) return nullptr;
  const auto streams = [](const ExchangePtr& exchange) {
    return exchange->takes_stream && (exchange->reply || exchange->stream);
  };
  if (numbers_.size() == 1) {
    const auto& only = asked_.at(numbers_.begin()->second).exchange;
    if (streams(only)) return only;
  }
  if (streams_.live(0)) return nullptr;
  // Nobody listens to what belongs to no request: better with the wrong one than never.
  for (auto entry = numbers_.rbegin(); entry != numbers_.rend(); ++entry) {
    const auto& exchange = asked_.at(entry->second).exchange;
    if (streams(exchange)) return exchange;
  }
  return nullptr;
}

void Session::from_server(const Message& message) {
  if (over_) return;
  if (message.asks()) {
    if (wanted_.size() >= core_.limits.max_requests) {
      return channel().send(make_error(message.id(), kInternalError,
                                       "the client has not answered so many requests already"));
    }
    if (!wanted_.insert(*message.id()).second) {
      return channel().send(
          make_error(message.id(), kInvalidRequest, "this id is that of a request in flight"));
    }
  } else if (message.method() == "notifications/cancelled") {
    const auto request = member(message.params(), "requestId");
    const auto id = request ? Id::read(*request) : std::nullopt;
    if (id) wanted_.erase(*id);
  }
  std::string text = through_gate(message.text());
  if (text.empty()) return;
  const auto exchange = place_for(message);
  if (exchange) return send_related(exchange, std::move(text));
  streams_.send(0, std::move(text));
}

void Session::get(const Ask& ask, std::shared_ptr<Reply> reply) {
  touch();
  if (!ask.takes_stream) {
    return core_.refuse(*reply, 406, kInvalidRequest, "GET is answered by text/event-stream only");
  }
  if (const auto last = ask.header("last-event-id"); last && !last->empty()) {
    switch (streams_.resume(*last, reply, headers())) {
      case Streams::Resumed::yes:
        return;
      case Streams::Resumed::unknown:
        return core_.refuse(*reply, 400, kInvalidRequest,
                            "Last-Event-ID is no event of this session");
      case Streams::Resumed::forgotten:
        return core_.refuse(*reply, 400, kInvalidRequest,
                            "what came after Last-Event-ID is not kept any more");
    }
  }
  if (!streams_.open_standing(reply, headers())) {
    core_.refuse(*reply, 409, kInvalidRequest, "this session has a stream of this kind already");
  }
}

bool Session::idle_for(Duration time) const {
  if (greeting_.empty()) return false;  // that has a time-out of its own
  return !over_ && numbers_.empty() && !streams_.any_live() && core_.loop->now() - used_ >= time;
}

void Session::end(std::string_view reason) {
  if (over_) return;
  const auto self = shared_from_this();
  if (const auto tell = std::exchange(not_greeted_, {})) tell(503, reason);
  const auto asked = asked_;
  for (const auto& [id, one] : asked) {
    if (!parts_.own_child) channel().cancel(one.number, reason);
    answered(id, make_error(id, kInternalError, reason));
  }
  over_ = true;
  streams_.end();
  if (parts_.own_child) parts_.channel->link().end();
  if (const auto ended = std::exchange(parts_.ended, {})) ended();
}

}  // namespace cordon::mcp
