#include "mcp_inspect_talk.h"

#include <string_view>

#include "base/json_text.h"
#include "cordon/version.h"
#include "mcp/json_view.h"

namespace cordon::app {
namespace {

// "string" if the tool says so about the argument.
std::string type_of(const std::vector<std::string>& tools, std::string_view tool,
                    std::string_view argument) {
  for (const std::string& each : tools) {
    if (mcp::string_member(each, "name") != tool) continue;
    const auto schema = mcp::member(each, "inputSchema");
    const auto all = schema ? mcp::member(*schema, "properties") : std::nullopt;
    const auto one = all ? mcp::member(*all, argument) : std::nullopt;
    return one ? mcp::string_member(*one, "type").value_or("") : "";
  }
  return {};
}

class Talk {
 public:
  Talk(mcp::Client& client, Inspected& seen) : client_(client), seen_(seen) {}

  void look(const Inspect& asked) {
    auto server = client_.begin();
    if (!server) return fail(std::move(server.error()));
    seen_.server = *std::move(server);
    if (asked.call.empty()) {
      return (void)(list("tools", "tools/list", "tools", seen_.tools) &&
                    list("resources", "resources/list", "resources", seen_.resources) &&
                    list("resources", "resources/templates/list", "resourceTemplates",
                         seen_.templates) &&
                    list("prompts", "prompts/list", "prompts", seen_.prompts));
    }
    // Only the arguments' types are wanted: a server that does not tell them can still be asked.
    if (!asked.given.empty()) {
      if (auto tools = client_.list("tools/list", "tools")) seen_.tools = *std::move(tools);
    }
    call(asked);
  }

 private:
  void fail(mcp::AskFailure failure) { seen_.failure = std::move(failure); }

  // False: there is no point in going on.
  bool list(std::string_view capability, std::string_view method, std::string_view key,
            std::vector<std::string>& to) {
    if (!mcp::member(seen_.server->capabilities, capability)) return true;
    auto all = client_.list(method, key);
    if (all) {
      to = *std::move(all);
      return true;
    }
    // Not every server with resources has templates.
    if (all.error().code == mcp::kMethodNotFound) return true;
    fail(std::move(all.error()));
    return false;
  }

  void call(const Inspect& asked) {
    base::JsonObject params;
    params.add("name", base::json_text(asked.call));
    params.add("arguments", call_arguments(asked, seen_.tools));
    auto result = client_.ask("tools/call", params.str());
    if (!result) return fail(std::move(result.error()));
    seen_.result = *std::move(result);
  }

  mcp::Client& client_;
  Inspected& seen_;
};

}  // namespace

std::string call_arguments(const Inspect& asked, const std::vector<std::string>& tools) {
  if (!asked.arguments.empty()) return asked.arguments;
  std::string all;
  for (const auto& [name, value] : asked.given) {
    const bool text = type_of(tools, asked.call, name) == "string" || !mcp::check_json(value, {});
    all += all.empty() ? '{' : ',';
    all += base::json_text(name) + ':' + (text ? base::json_text(value) : value);
  }
  return all.empty() ? "{}" : all + '}';
}

Inspected inspect_server(Process& process, EventStream events, Clock& clock, mcp::Gate* gate,
                         const Inspect& asked) {
  Inspected seen;
  mcp::Client client(
      process, events, clock,
      {.name = "cordon", .version = std::string(version()), .patience = asked.wait, .gate = gate});
  Talk(client, seen).look(asked);
  client.end(asked.grace);
  seen.log = client.log();
  seen.noise = client.noise();
  seen.first_noise = client.first_noise();
  return seen;
}

}  // namespace cordon::app
