// What stands between an MCP server and its client in this run: the tools that policy and options
// allow, and the record of calls.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "call_book.h"
#include "mcp/tools/tool_gate.h"
#include "policy/policy.h"
#include "recorded_run.h"
#include "run_options.h"

namespace cordon::app {

// What policy and options say of tools; empty: all may be called.
[[nodiscard]] std::vector<policy::ToolRules> tool_rules(const policy::Policy& policy,
                                                        const RunOptions& options);

class McpGate {
 public:
  // `run` must outlive this object.
  McpGate(const policy::Policy& policy, const RunOptions& options, RecordedRun& run);

  // Null: nothing is to be kept or recorded, so nothing needs to be between them.
  [[nodiscard]] mcp::Gate* gate() { return gate_ ? &*gate_ : nullptr; }

 private:
  std::optional<CallBook> book_;
  std::optional<mcp::ToolGate> gate_;
};

}  // namespace cordon::app
