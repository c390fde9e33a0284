// Which tools of a server may be called, and with which arguments: what every policy file and the
// command's options say, all at once. Immutable; pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/tool_rules.h"

namespace cordon::mcp {

class ToolPolicy {
 public:
  ToolPolicy() = default;  // allows everything
  explicit ToolPolicy(std::vector<policy::ToolRules> rules) : rules_(std::move(rules)) {}

  [[nodiscard]] bool restricts() const { return !rules_.empty(); }

  // Why the tool may not be called at all, as the client is told: "the tool x is denied by …".
  // Nothing: it may, with some arguments.
  [[nodiscard]] std::optional<std::string> refuse(std::string_view tool) const;
  // Why it may not be called so. `arguments` is JSON that check_json() has found right; empty: it
  // has none.
  [[nodiscard]] std::optional<std::string> refuse(std::string_view tool,
                                                  std::string_view arguments) const;

 private:
  std::vector<policy::ToolRules> rules_;
};

// What options ask for; no lists: nothing.
[[nodiscard]] std::optional<policy::ToolRules> tool_options(const std::vector<std::string>& allow,
                                                            const std::vector<std::string>& deny);

}  // namespace cordon::mcp
