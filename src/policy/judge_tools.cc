// Which tools of an MCP server may be asked for. What is called later is judged by the same rules.
#include "base/printable.h"
#include "policy/judges.h"
#include "policy/tool_rules.h"

namespace cordon::policy {

std::vector<ToolRules> tools_of(const Policy& policy) {
  std::vector<ToolRules> all;
  for (const Ceiling& ceiling : policy.ceilings) {
    if (ceiling.tools) all.push_back(*ceiling.tools);
  }
  return all;
}

void judge_tools(const Case& all) {
  for (const auto& [name, asked] : all.asks.tools) {
    // A pattern asks for nothing in particular: each call is judged on its own.
    if (name.contains('*')) continue;
    bool allowed = true;
    Place decided;
    for (const Ceiling& ceiling : all.policy.ceilings) {
      if (!ceiling.tools) continue;
      decided = ceiling.tools->place;
      const auto refusal = refuse_tool(*ceiling.tools, name);
      if (!refusal) continue;
      allowed = false;
      all.refuse("tool", name, refusal->decided_by, asked,
                 to_string(asked) + ": the tool " + base::printable(name) + " " + refusal->why +
                     ": do without, or allow it there");
      break;
    }
    if (allowed) all.allow("tool", name, decided, asked);
  }
}

}  // namespace cordon::policy
