#include "mcp_gate.h"

#include <utility>

#include "mcp/tools/tool_policy.h"

namespace cordon::app {

std::vector<policy::ToolRules> tool_rules(const policy::Policy& policy, const RunOptions& options) {
  auto rules = policy::tools_of(policy);
  if (auto asked = mcp::tool_options(options.tools.allow, options.tools.deny)) {
    rules.push_back(*std::move(asked));
  }
  return rules;
}

McpGate::McpGate(const policy::Policy& policy, const RunOptions& options, RecordedRun& run) {
  auto rules = tool_rules(policy, options);
  const bool recorded = !run.id().empty();
  if (rules.empty() && !recorded) return;
  if (recorded) book_.emplace(run);
  gate_.emplace(mcp::ToolPolicy(std::move(rules)), real_clock(), book_ ? &*book_ : nullptr);
}

}  // namespace cordon::app
