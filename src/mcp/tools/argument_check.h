// Whether the arguments of a call are what a policy wants them to be. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/tool_rules.h"

namespace cordon::mcp {

// What is wrong: "its argument path is not below /srv". `arguments` is an object in JSON that
// check_json() has found right. A path is compared as text: what links make of it is for the
// sandbox to bound.
[[nodiscard]] std::optional<std::string> argument_fault(const policy::ArgumentCondition& condition,
                                                        std::string_view arguments);

}  // namespace cordon::mcp
