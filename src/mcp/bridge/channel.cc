#include "mcp/bridge/channel.h"

#include <charconv>
#include <utility>

#include "base/json_text.h"
#include "mcp/bridge/rewrite.h"

namespace cordon::mcp {
namespace {

std::optional<std::int64_t> number_of(std::string_view json) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  if (error != std::errc{} || end != json.data() + json.size()) return std::nullopt;
  return value;
}

std::optional<std::string_view> meta_member(const Message& message, std::string_view name) {
  const auto meta = member(message.params(), "_meta");
  if (!meta) return std::nullopt;
  return member(*meta, name);
}

}  // namespace

void Channel::open(Owner owner) {
  owner_ = std::move(owner);
  link_->set_owner({.message =
                        [weak = weak_from_this()](const Message& message) {
                          if (const auto self = weak.lock()) self->take(message);
                        },
                    .ended =
                        [weak = weak_from_this()] {
                          if (const auto self = weak.lock()) self->ended();
                        }});
}

std::int64_t Channel::call(const Message& request, Call call) {
  const std::int64_t number = ++last_;
  std::vector<Edit> edits{{.part = request.id_text(), .text = std::to_string(number)}};
  Sent sent{.call = std::move(call), .id = request.id()->json(), .token = {}};
  if (const auto token = meta_member(request, "progressToken")) {
    sent.token = *token;
    edits.push_back({.part = *token, .text = std::to_string(number)});
  }
  return send_call(edited(request.text(), std::move(edits)), number, std::move(sent));
}

std::int64_t Channel::call(std::string_view method, std::string_view params, Call call) {
  const std::int64_t number = ++last_;
  return send_call(make_request(Id::number(number), method, params), number,
                   {.call = std::move(call), .id = std::to_string(number), .token = {}});
}

std::int64_t Channel::send_call(std::string_view text, std::int64_t number, Sent sent) {
  calls_.emplace(number, std::move(sent));
  link_->send(text);
  return number;
}

void Channel::cancel(std::int64_t number, std::string_view reason) {
  if (calls_.erase(number) == 0) return;
  base::JsonObject params;
  params.add("requestId", std::to_string(number));
  if (!reason.empty()) params.add("reason", base::json_text(reason));
  link_->send(make_notification("notifications/cancelled", params.str()));
}

std::optional<std::int64_t> Channel::only() const {
  if (calls_.size() != 1) return std::nullopt;
  return calls_.begin()->first;
}

void Channel::take(const Message& message) {
  if (message.answers()) return take_answer(message);
  if (message.kind() == Message::Kind::notification) {
    if (message.method() == "notifications/progress") {
      if (take_progress(message)) return;
      return;  // late, or of nobody: there is no one to tell
    }
    if (take_subscribed(message)) return;
  }
  if (owner_.unrelated) owner_.unrelated(message);
}

void Channel::take_answer(const Message& message) {
  if (!message.id()) return;
  const auto number = number_of(message.id()->json());
  const auto found = number ? calls_.find(*number) : calls_.end();
  if (found == calls_.end()) return;  // cancelled, answered before, or never asked
  const auto sent = std::move(found->second);
  calls_.erase(found);
  if (sent.call.answered) sent.call.answered(message);
}

bool Channel::take_progress(const Message& message) {
  const auto token = member(message.params(), "progressToken");
  const auto number = token ? number_of(*token) : std::nullopt;
  const auto found = number ? calls_.find(*number) : calls_.end();
  if (found == calls_.end() || found->second.token.empty()) return false;
  const auto related = found->second.call.related;
  if (related) related(message, edited(message.text(), {{*token, found->second.token}}));
  return true;
}

bool Channel::take_subscribed(const Message& message) {
  const auto id = meta_member(message, kSubscriptionId);
  const auto number = id ? number_of(*id) : std::nullopt;
  const auto found = number ? calls_.find(*number) : calls_.end();
  if (found == calls_.end()) return false;
  const auto related = found->second.call.related;
  if (related) related(message, edited(message.text(), {{*id, found->second.id}}));
  return true;
}

void Channel::ended() {
  const auto self = shared_from_this();
  const std::string reason = link_->reason();
  const auto calls = std::exchange(calls_, {});
  for (const auto& [number, sent] : calls) {
    if (sent.call.lost) sent.call.lost(reason);
  }
  const Owner owner = std::exchange(owner_, {});
  if (owner.ended) owner.ended(reason);
}

}  // namespace cordon::mcp
