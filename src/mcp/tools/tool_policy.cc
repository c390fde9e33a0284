#include "mcp/tools/tool_policy.h"

#include "base/printable.h"
#include "mcp/json_view.h"
#include "mcp/tools/argument_check.h"
#include "request/environment.h"

namespace cordon::mcp {
namespace {

constexpr std::size_t kShown = 80;

// As much of a name as a person wants to see.
std::string shown(std::string_view tool) {
  return "the tool " + base::printable(tool.substr(0, kShown)) + (tool.size() > kShown ? "…" : "");
}

std::optional<std::string> refuse_arguments(const policy::ToolRules& rules, std::string_view tool,
                                            std::string_view arguments) {
  const std::string same = policy::folded(tool);
  for (const policy::ToolRule& rule : rules.rules) {
    if (!request::glob_matches(policy::folded(rule.name.value), same)) continue;
    for (const policy::ArgumentCondition& condition : rule.arguments) {
      if (const auto fault = argument_fault(condition, arguments)) {
        return *fault + " (" + to_string(condition.at.place) + ")";
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ToolPolicy::refuse(std::string_view tool) const {
  for (const policy::ToolRules& rules : rules_) {
    if (const auto refusal = policy::refuse_tool(rules, tool)) {
      return shown(tool) + " " + refusal->why;
    }
  }
  return std::nullopt;
}

std::optional<std::string> ToolPolicy::refuse(std::string_view tool,
                                              std::string_view arguments) const {
  if (auto refusal = refuse(tool)) return refusal;
  if (arguments.empty()) arguments = "{}";
  if (restricts() && !is_object(arguments)) {
    return shown(tool) + " may not be called so: its arguments are no object";
  }
  for (const policy::ToolRules& rules : rules_) {
    if (const auto fault = refuse_arguments(rules, tool, arguments)) {
      return shown(tool) + " may not be called so: " + *fault;
    }
  }
  return std::nullopt;
}

std::optional<policy::ToolRules> tool_options(const std::vector<std::string>& allow,
                                              const std::vector<std::string>& deny) {
  if (allow.empty() && deny.empty()) return std::nullopt;
  const auto list = [](const std::vector<std::string>& names, const char* option) {
    policy::Placed<std::vector<policy::Placed<std::string>>> all{{}, {.file = option}};
    for (const std::string& name : names) all.value.push_back({name, {.file = option}});
    return all;
  };
  policy::ToolRules rules{.place = {.file = allow.empty() ? "--deny-tool" : "--allow-tool"}};
  if (!allow.empty()) rules.allow = list(allow, "--allow-tool");
  if (!deny.empty()) rules.deny = list(deny, "--deny-tool");
  return rules;
}

}  // namespace cordon::mcp
