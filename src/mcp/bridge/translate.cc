#include "mcp/bridge/translate.h"

#include <algorithm>
#include <array>

#include "base/json_text.h"
#include "mcp/bridge/channel.h"
#include "mcp/bridge/rewrite.h"
#include "mcp/versions.h"

namespace cordon::mcp {
namespace {

constexpr std::string_view kSelf = R"({"name":"cordon","version":"1"})";
constexpr int kResourceNotFound = -32002;  // before 2026-07-28

bool cacheable(std::string_view method) {
  return method == "tools/list" || method == "prompts/list" || method == "resources/list" ||
         method == "resources/templates/list" || method == "resources/read";
}

struct ListKind {
  std::string_view field;
  std::string_view capability;
  std::string_view method;
};
constexpr auto kLists = std::to_array<ListKind>({
    {"toolsListChanged", "tools", "notifications/tools/list_changed"},
    {"promptsListChanged", "prompts", "notifications/prompts/list_changed"},
    {"resourcesListChanged", "resources", "notifications/resources/list_changed"},
});

bool is_true(std::string_view object, std::string_view name) {
  return member(object, name) == std::string_view("true");
}

}  // namespace

std::string own_initialize_params() {
  base::JsonObject params;
  params.add("protocolVersion", base::json_text(kWithSessions.back()));
  params.add("capabilities", R"({"sampling":{},"elicitation":{},"roots":{}})");
  params.add("clientInfo", kSelf);
  return params.str();
}

std::string own_discover_params() {
  base::JsonObject meta;
  meta.add(kMetaVersion, base::json_text(kModern));
  meta.add(kMetaCapabilities, "{}");
  meta.add(kMetaClient, kSelf);
  return base::JsonObject().add("_meta", meta.str()).str();
}

bool speaks_modern(const Message& answer) {
  const auto versions = member(answer.result(), "supportedVersions");
  if (!versions || !is_array(*versions)) return false;
  Elements all(*versions);
  while (const auto version = all.next()) {
    if (is_string(*version) && unescaped(*version) == kModern) return true;
  }
  return false;
}

std::string discover_result(std::string_view greeting) {
  base::JsonObject result;
  result.add("resultType", R"("complete")");
  result.add("supportedVersions", "[" + base::json_text(kModern) + "]");
  const auto capabilities = member(greeting, "capabilities");
  result.add("capabilities", capabilities && is_object(*capabilities)
                                 ? without_members(*capabilities, {"tasks"})
                                 : "{}");
  if (const auto text = member(greeting, "instructions"); text && is_string(*text)) {
    result.add("instructions", *text);
  }
  result.add("ttlMs", "0");
  result.add("cacheScope", R"("private")");
  if (const auto info = member(greeting, "serverInfo"); info && is_object(*info)) {
    result.add("_meta", base::JsonObject().add(kMetaServer, *info).str());
  }
  return result.str();
}

std::string initialize_result(std::string_view discovered, std::string_view version) {
  base::JsonObject result;
  result.add("protocolVersion",
             base::json_text(has_sessions(version) ? version : kWithSessions.back()));
  result.add("capabilities", member(discovered, "capabilities").value_or("{}"));
  auto info = member(discovered, "serverInfo");
  if (const auto meta = member(discovered, "_meta"); !info && meta) {
    info = member(*meta, kMetaServer);
  }
  result.add("serverInfo", info && is_object(*info) ? *info : R"({"name":"server","version":"0"})");
  if (const auto text = member(discovered, "instructions"); text && is_string(*text)) {
    result.add("instructions", *text);
  }
  return result.str();
}

std::string modern_answer(const Message& answer, const Id& id, std::string_view method) {
  if (answer.kind() == Message::Kind::response && is_object(answer.result())) {
    NewMembers members{{"resultType", R"("complete")"}};
    if (cacheable(method)) {
      members.emplace_back("ttlMs", "0");
      members.emplace_back("cacheScope", R"("private")");
    }
    return edited(answer.text(), {{answer.id_text(), id.json()},
                                  {answer.result(), with_members(answer.result(), members)}});
  }
  const auto code = member(answer.error(), "code");
  if (method == "resources/read" && code == std::to_string(kResourceNotFound)) {
    return edited(answer.text(),
                  {{answer.id_text(), id.json()}, {*code, std::to_string(kInvalidParams)}});
  }
  return answer.with_id(id);
}

std::string input_required(const InputRequests& requests, std::string_view state) {
  base::JsonObject all;
  for (const auto& [key, request] : requests) {
    base::JsonObject one;
    one.add("method", base::json_text(request.method));
    if (!request.params.empty()) one.add("params", request.params);
    all.add(key, one.str());
  }
  base::JsonObject result;
  result.add("resultType", R"("input_required")");
  result.add("inputRequests", all.str());
  result.add("requestState", base::json_text(state));
  return result.str();
}

std::string_view needed_capability(std::string_view method) {
  if (method == "sampling/createMessage") return "sampling";
  if (method == "elicitation/create") return "elicitation";
  if (method == "roots/list") return "roots";
  return {};
}

std::string honoured_filter(std::string_view wanted, std::string_view greeting) {
  const auto capabilities = member(greeting, "capabilities").value_or("{}");
  base::JsonObject filter;
  for (const ListKind& kind : kLists) {
    const auto capability = member(capabilities, kind.capability);
    if (is_true(wanted, kind.field) && capability && is_true(*capability, "listChanged")) {
      filter.add(kind.field, "true");
    }
  }
  const auto resources = member(capabilities, "resources");
  const auto uris = member(wanted, "resourceSubscriptions");
  if (resources && is_true(*resources, "subscribe") && uris && is_array(*uris)) {
    filter.add("resourceSubscriptions", *uris);
  }
  return filter.str();
}

bool in_filter(std::string_view filter, const Message& notification) {
  for (const ListKind& kind : kLists) {
    if (notification.method() == kind.method) return is_true(filter, kind.field);
  }
  if (notification.method() != "notifications/resources/updated") return false;
  const auto uris = member(filter, "resourceSubscriptions");
  const auto uri = string_member(notification.params(), "uri");
  if (!uris || !uri) return false;
  Elements all(*uris);
  while (const auto one = all.next()) {
    if (is_string(*one) && unescaped(*one) == *uri) return true;
  }
  return false;
}

std::string for_subscription(const Message& notification, const Id& subscription) {
  const std::string_view params = notification.params();
  const std::string_view object = is_object(params) ? params : std::string_view("{}");
  const auto meta = member(object, "_meta");
  const std::string tagged = with_members(meta && is_object(*meta) ? *meta : "{}",
                                          {{kSubscriptionId, subscription.json()}});
  return make_notification(notification.method(),
                           with_members(without_members(object, {"_meta"}), {{"_meta", tagged}}));
}

bool severe_enough(std::string_view level, std::string_view wanted) {
  constexpr auto kLevels = std::to_array<std::string_view>(
      {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"});
  return std::ranges::find(kLevels, level) >= std::ranges::find(kLevels, wanted);
}

}  // namespace cordon::mcp
