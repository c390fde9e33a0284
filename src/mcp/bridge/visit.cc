#include "mcp/bridge/visit.h"

#include <charconv>
#include <optional>
#include <utility>

namespace cordon::mcp {
namespace {

std::optional<int> error_code(const Message& message) {
  const auto code = member(message.error(), "code");
  if (!code) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(code->data(), code->data() + code->size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

int status_of(std::string_view text, const MessageLimits& limits) {
  const auto message = parse_one(text, limits);
  if (!message || message->kind() != Message::Kind::error) return 200;
  const int code = error_code(*message).value_or(0);
  if (code == kMethodNotFound) return 404;
  const bool of_the_request =
      code == kHeaderMismatch || code == kMissingCapability || code == kUnsupportedVersion;
  return of_the_request ? 400 : 200;
}

}  // namespace

Visit::Visit(BridgeCore& core, Message request, const Ask& ask, std::shared_ptr<Reply> reply,
             std::unique_ptr<Gate> gate)
    : core_(core),
      request_(std::move(request)),
      reply_(std::move(reply)),
      gate_(std::move(gate)),
      takes_json_(ask.takes_json || !ask.takes_stream),
      takes_stream_(ask.takes_stream) {
  ++core_.counts.requests;
  ++core_.counts.in_flight;
}

Visit::~Visit() {
  if (!over_) --core_.counts.in_flight;
}

bool Visit::admitted() {
  reply_->when_gone([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    self->finish();
    self->tell_gate_of_cancellation();
    if (const auto gone = std::exchange(self->gone_, {})) gone();
  });
  if (!gate_) return true;
  auto refusal = gate_->from_client(request_);
  if (!refusal) return true;
  finish();
  reply_->answer({.status = 200, .headers = {}, .body = *std::move(refusal)});
  return false;
}

void Visit::tell_gate_of_cancellation() {
  if (!gate_) return;
  std::string params = R"({"requestId":)";
  params.append(request_.id_text()).append("}");
  const auto message = parse_one(make_notification("notifications/cancelled", params));
  if (message) (void)gate_->from_client(*message);
}

std::string Visit::through_gate(std::string text) {
  if (!gate_) return text;
  const auto message = parse_one(text, core_.limits.server);
  if (!message) return text;
  auto other = gate_->from_server(*message);
  return other ? *std::move(other) : std::move(text);
}

void Visit::finish() {
  over_ = true;
  --core_.counts.in_flight;
}

void Visit::answer(std::string text) {
  if (over_) return;
  text = through_gate(std::move(text));
  if (!streams_ && takes_json_) {
    finish();
    const int status = status_of(text, core_.limits.server);
    if (status >= 400) ++core_.counts.refused;
    return reply_->answer({.status = status, .headers = {}, .body = std::move(text)});
  }
  if (!streams_) reply_->begin_stream({});
  finish();
  reply_->send({.id = {}, .data = std::move(text), .retry = {}, .priming = false});
  reply_->end_stream();
}

void Visit::fail(int status, std::string_view reason) {
  if (over_) return;
  std::string text = through_gate(make_error(id(), kInternalError, reason));
  finish();
  if (!streams_) {
    ++core_.counts.refused;
    return reply_->answer({.status = status, .headers = {}, .body = std::move(text)});
  }
  reply_->send({.id = {}, .data = std::move(text), .retry = {}, .priming = false});
  reply_->end_stream();
}

void Visit::send(std::string text) {
  if (over_ || !takes_stream_) return;
  text = through_gate(std::move(text));
  if (text.empty()) return;
  if (!streams_) {
    streams_ = true;
    reply_->begin_stream({});
  }
  reply_->send({.id = {}, .data = std::move(text), .retry = {}, .priming = false});
  if (reply_->pending() <= core_.limits.pending_bytes) return;
  const auto self = shared_from_this();
  close();
  if (const auto gone = std::exchange(gone_, {})) gone();
}

void Visit::close() {
  if (over_) return;
  finish();
  if (streams_) return reply_->end_stream();
  reply_->answer({.status = 500, .headers = {}, .body = {}});
}

}  // namespace cordon::mcp
