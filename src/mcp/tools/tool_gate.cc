#include "mcp/tools/tool_gate.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/printable.h"

namespace cordon::mcp {
namespace {

using End = audit::Call::End;

constexpr std::string_view kCall = "tools/call";
constexpr std::string_view kList = "tools/list";
constexpr std::size_t kMostAsked = 65'536;
constexpr std::size_t kMostCancelled = 1024;

constexpr std::array<std::string_view, 6> kParts = {"jsonrpc", "id",     "method",
                                                    "params",  "result", "error"};
constexpr std::array<std::string_view, 3> kCallParts = {"name", "arguments", "_meta"};

// A name that is not `known`, but that somebody who does not tell capital from small letters takes
// for one of them.
std::optional<std::string> look_alike(std::string_view object,
                                      std::span<const std::string_view> known) {
  Members all(object);
  while (const auto each = all.next()) {
    if (std::ranges::find(known, std::string_view(each->name)) != known.end()) continue;
    const std::string same = policy::folded(each->name);
    if (std::ranges::find(known, std::string_view(same)) != known.end()) return each->name;
  }
  return std::nullopt;
}

bool looks_like_a_tool_method(std::string_view method) {
  if (method == kCall || method == kList) return false;
  std::string same = policy::folded(method);
  std::erase_if(same, [](char c) { return c <= ' '; });
  return same == kCall || same == kList;
}

bool says_error(std::string_view result) { return member(result, "isError") == "true"; }

}  // namespace

ToolGate::ToolGate(ToolPolicy policy, Clock& clock, CallSink* sink)
    : policy_(std::move(policy)), clock_(clock), sink_(sink) {}

ToolGate::~ToolGate() { finish(); }

std::optional<std::string> ToolGate::from_client(const Message& message) {
  audit::Call call{.method = message.method(), .request_bytes = message.text().size()};
  if (message.method() == kCall) call.tool = string_member(message.params(), "name").value_or("");
  auto verdict = judge(message, call.tool);
  if (!verdict && message.asks()) verdict = remember(message, call);
  if (verdict) return refuse(message, std::move(call), *verdict);
  if (message.method() == "notifications/cancelled") cancel(message);
  return std::nullopt;
}

std::optional<ToolGate::Verdict> ToolGate::judge(const Message& message,
                                                 const std::string& tool) const {
  // A server that ends lines at carriage returns, too, would find another message in this one.
  if (message.text().contains('\r')) {
    return Verdict{kInvalidRequest, "a message with a carriage return inside is not passed on"};
  }
  if (const auto odd = look_alike(message.text(), kParts)) {
    return Verdict{kInvalidRequest, "\"" + base::printable(*odd) +
                                        "\" could be taken for another part of a message"};
  }
  if (message.answers()) return std::nullopt;
  if (looks_like_a_tool_method(message.method())) {
    return Verdict{kMethodNotFound, "the method could be taken for another: it is not passed on"};
  }
  if (message.asks() && sink_ != nullptr && !sink_->works()) {
    return Verdict{kInternalError, "calls cannot be recorded any more, so none is passed on"};
  }
  if (message.method() == kCall) return judge_call(message, tool);
  return std::nullopt;
}

std::optional<ToolGate::Verdict> ToolGate::judge_call(const Message& message,
                                                      const std::string& tool) const {
  if (!message.asks()) return Verdict{kInvalidRequest, "tools/call is a request: it has an id"};
  const std::string_view params = message.params();
  if (!is_object(params) || !string_member(params, "name")) {
    return Verdict{kInvalidParams, "tools/call has no \"name\" that is a string"};
  }
  if (const auto odd = look_alike(params, kCallParts)) {
    return Verdict{kInvalidParams,
                   "\"" + base::printable(*odd) + "\" could be taken for another part of a call"};
  }
  auto why = policy_.refuse(tool, member(params, "arguments").value_or(std::string_view()));
  if (!why) return std::nullopt;
  return Verdict{kInvalidParams, *std::move(why)};
}

std::optional<std::string> ToolGate::refuse(const Message& message, audit::Call call,
                                            const Verdict& verdict) {
  call.end = End::refused;
  // Whoever answers is not heard, but has not called anything either.
  if (sink_ != nullptr && !message.answers()) sink_->add(std::move(call));
  if (!message.asks()) return std::string();
  return make_error(message.id(), verdict.code, verdict.why);
}

std::optional<ToolGate::Verdict> ToolGate::remember(const Message& message,
                                                    const audit::Call& call) {
  const std::scoped_lock guard(mutex_);
  if (asked_.size() >= kMostAsked) {
    return Verdict{kInternalError, "too many requests have no answer yet"};
  }
  const Filter filter = call.method == kList && policy_.restricts() ? Filter::tools : Filter::none;
  Asked asked{.call = call, .since = clock_.now(), .filter = filter};
  if (!asked_.try_emplace(*message.id(), std::move(asked)).second) {
    return Verdict{kInvalidRequest, "a request with the same id has no answer yet"};
  }
  // What answers it from now on is the answer to this one.
  if (cancelled_.erase(*message.id()) > 0) std::erase(cancelled_order_, *message.id());
  return std::nullopt;
}

void ToolGate::cancel(const Message& message) {
  const auto text = member(message.params(), "requestId");
  const auto id = text ? Id::read(*text) : std::nullopt;
  if (!id) return;
  Asked asked;
  {
    const std::scoped_lock guard(mutex_);
    const auto at = asked_.find(*id);
    if (at == asked_.end()) return;
    asked = std::move(at->second);
    asked_.erase(at);
    cancelled_.emplace(*id, asked.filter);
    cancelled_order_.push_back(*id);
    if (cancelled_order_.size() > kMostCancelled) {
      cancelled_.erase(cancelled_order_.front());
      cancelled_order_.pop_front();
    }
  }
  tell(std::move(asked), End::cancelled);
}

void ToolGate::tell(Asked asked, End end) {
  if (sink_ == nullptr) return;
  asked.call.duration = clock_.now() - asked.since;
  asked.call.end = end;
  sink_->add(std::move(asked.call));
}

std::optional<std::string> ToolGate::from_server(const Message& message) {
  if (!message.answers() || !message.id()) return std::nullopt;
  std::optional<Asked> asked;
  Filter filter = Filter::none;
  {
    const std::scoped_lock guard(mutex_);
    if (const auto at = asked_.find(*message.id()); at != asked_.end()) {
      asked = std::move(at->second);
      asked_.erase(at);
      filter = asked->filter;
    } else if (const auto late = cancelled_.find(*message.id()); late != cancelled_.end()) {
      filter = late->second;
      cancelled_.erase(late);
      std::erase(cancelled_order_, *message.id());
    } else {
      return std::string();  // nobody has asked
    }
  }
  const bool failed = message.kind() == Message::Kind::error;
  if (asked) {
    const bool tool_failed = !failed && asked->call.method == kCall && says_error(message.result());
    asked->call.response_bytes = message.text().size();
    tell(*std::move(asked), failed ? End::protocol_error : tool_failed ? End::tool_error : End::ok);
  }
  if (failed || filter == Filter::none) return std::nullopt;
  return without_denied_tools(message);
}

std::optional<std::string> ToolGate::without_denied_tools(const Message& message) const {
  const auto tools = member(message.result(), "tools");
  if (!tools || !is_array(*tools)) return std::nullopt;
  std::string kept = "[";
  bool all = true;
  Elements each(*tools);
  while (const auto tool = each.next()) {
    const auto name = string_member(*tool, "name");
    if (!name || policy_.refuse(*name)) {
      all = false;
      continue;
    }
    if (kept.size() > 1) kept += ',';
    kept += *tool;
  }
  if (all) return std::nullopt;
  kept += ']';
  const std::string& text = message.text();
  const auto begin = static_cast<std::size_t>(tools->data() - text.data());
  return text.substr(0, begin) + kept + text.substr(begin + tools->size());
}

void ToolGate::finish() {
  std::map<Id, Asked> left;
  {
    const std::scoped_lock guard(mutex_);
    left.swap(asked_);
  }
  for (auto& [id, asked] : left) tell(std::move(asked), End::no_answer);
}

}  // namespace cordon::mcp
