// A session whose server speaks 2026-07-28 and nothing else. The greeting is made of what the
// server says about itself, each request gets what that era says with each, and what the server
// asks for instead of an answer is asked of the client in the way of its own.
#include <utility>

#include "base/json_text.h"
#include "mcp/bridge/rewrite.h"
#include "mcp/bridge/session.h"
#include "mcp/bridge/translate.h"
#include "mcp/versions.h"

namespace cordon::mcp {

void Session::become_modern(const Message& initialize) {
  modern_ = std::make_unique<Modern>();
  const auto object = [&](std::string_view name) {
    const auto value = member(initialize.params(), name);
    return value && is_object(*value) ? std::string(*value) : std::string("{}");
  };
  modern_->capabilities = object("capabilities");
  modern_->client = object("clientInfo");
}

// The server has answered initialize by an error: perhaps it does not know it.
void Session::try_modern(const ExchangePtr& exchange, const Message& initialize,
                         const Message& error) {
  Call call;
  call.answered = [weak = weak_from_this(), exchange, initialize, error](const Message& answer) {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    exchange->timer.reset();
    self->not_greeted_ = {};
    if (!speaks_modern(answer)) {
      exchange->reply->answer(
          {.status = 200, .headers = {}, .body = error.with_id(*initialize.id())});
      return self->end("the server refused to begin");
    }
    self->channel().set_modern();
    self->become_modern(initialize);
    const auto version = string_member(initialize.params(), "protocolVersion");
    self->greet(exchange, *initialize.id(),
                initialize_result(answer.result(), version.value_or("")));
  };
  call.lost = [weak = weak_from_this()](const std::string& reason) {
    if (const auto self = weak.lock()) self->not_begun(502, reason);
  };
  (void)channel().call("server/discover", own_discover_params(), std::move(call));
}

std::optional<Message> Session::modern_request(const Message& message,
                                               std::string_view more) const {
  const std::string_view params = is_object(message.params()) ? message.params() : "{}";
  const auto given = member(params, "_meta");
  NewMembers meta{{kMetaVersion, base::json_text(kModern)},
                  {kMetaCapabilities, modern_->capabilities},
                  {kMetaClient, modern_->client}};
  if (!modern_->level.empty()) meta.emplace_back(kMetaLogLevel, modern_->level);
  const std::string whole = with_members(given && is_object(*given) ? *given : "{}", meta);
  NewMembers members{{"_meta", whole}};
  if (is_object(more)) {
    Members all(more);
    while (const auto one = all.next()) {
      members.emplace_back(one->name == "requestState" ? "requestState" : "inputResponses",
                           std::string(one->value));
    }
  }
  const std::string rest =
      with_members(without_members(params, {"_meta", "requestState", "inputResponses"}), members);
  auto request =
      parse_one(make_request(*message.id(), message.method(), rest), core_.limits.server);
  if (!request) return std::nullopt;
  return *std::move(request);
}

bool Session::answer_modern(const Message& message, const ExchangePtr& exchange) {
  const auto uri = member(message.params(), "uri");
  if (message.method() == "logging/setLevel") {
    const auto level = member(message.params(), "level");
    modern_->level = level && is_string(*level) ? std::string(*level) : std::string();
  } else if (message.method() == "resources/subscribe" && uri) {
    modern_->uris.emplace(*uri);
    listen_again();
  } else if (message.method() == "resources/unsubscribe" && uri) {
    modern_->uris.erase(std::string(*uri));
    listen_again();
  } else if (message.method() != "ping") {
    return false;
  }
  add_answer(exchange, through_gate(make_response(*message.id(), "{}")));
  return true;
}

// All that the server can tell: the client has no way to say that it does not want it.
void Session::listen_again() {
  if (modern_->listening != 0) channel().cancel(modern_->listening, "");
  std::string uris;
  for (const std::string& uri : modern_->uris) uris += (uris.empty() ? "" : ",") + uri;
  base::JsonObject filter;
  filter.add("toolsListChanged", "true");
  filter.add("promptsListChanged", "true");
  filter.add("resourcesListChanged", "true");
  filter.add("resourceSubscriptions", "[" + uris + "]");
  Call call;
  call.related = [weak = weak_from_this()](const Message& message, const std::string&) {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    if (message.method() == "notifications/subscriptions/acknowledged") return;
    self->streams_.send(0, self->through_gate(make_notification(
                               message.method(), is_object(message.params())
                                                     ? without_members(message.params(), {"_meta"})
                                                     : std::string())));
  };
  const std::string params = with_members(own_discover_params(), {{"notifications", filter.str()}});
  modern_->listening = channel().call("subscriptions/listen", params, std::move(call));
}

bool Session::begin_round(const Id& id, const Message& answer) {
  const auto found = modern_->rounds.find(id);
  const auto asked = asked_.find(id);
  if (found == modern_->rounds.end() || asked == asked_.end() ||
      string_member(answer.result(), "resultType") != "input_required") {
    return false;
  }
  Round& round = found->second;
  const auto state = member(answer.result(), "requestState");
  round.state = state ? std::string(*state) : std::string();
  round.responses.clear();
  round.missing = 0;
  const auto requests = member(answer.result(), "inputRequests");
  if (!requests || !is_object(*requests)) return false;
  const ExchangePtr exchange = asked->second.exchange;
  Members all(*requests);
  while (const auto one = all.next()) {
    const auto method = string_member(one->value, "method");
    if (!method) continue;
    const Id own = Id::text("cordon-" + std::to_string(++modern_->last));
    modern_->asks.emplace(own, std::pair(id, one->name));
    ++round.missing;
    send_related(exchange, through_gate(make_request(own, *method,
                                                     member(one->value, "params").value_or(""))));
  }
  return round.missing > 0;
}

bool Session::end_round(const Message& response) {
  const auto ask = modern_->asks.extract(*response.id());
  const auto& [id, key] = ask.mapped();
  const auto found = modern_->rounds.find(id);
  const auto asked = asked_.find(id);
  if (found == modern_->rounds.end() || asked == asked_.end()) return true;  // cancelled meanwhile
  if (parts_.gate && parts_.gate->from_client(response)) {
    answered(id, make_error(id, kInternalError, "the answer was not let through"));
    return true;
  }
  if (response.kind() == Message::Kind::error) {
    answered(id, make_error(id, kInternalError, "the client refused what the server needs"));
    return true;
  }
  Round& round = found->second;
  round.responses.insert_or_assign(key, std::string(response.result()));
  if (--round.missing > 0) return true;
  NewMembers members;
  for (const auto& [name, value] : round.responses) members.emplace_back(name, value);
  base::JsonObject more;
  more.add("inputResponses", with_members("{}", members));
  if (!round.state.empty()) more.add("requestState", round.state);
  const auto again = modern_request(round.request, more.str());
  if (!again) {
    answered(id, make_error(id, kInternalError, "the client's answer cannot be passed on"));
    return true;
  }
  numbers_.erase(asked->second.number);
  asked->second.number = channel().call(*again, make_call(id, asked->second.exchange));
  numbers_.emplace(asked->second.number, id);
  return true;
}

}  // namespace cordon::mcp
