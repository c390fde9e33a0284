// Profiles that are there without any file. Pure.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "policy/ceiling.h"

namespace cordon::policy {

struct BuiltinProfile {
  std::string_view name;
  std::string_view place;  // as places in it are named
  std::string_view text;   // as a policy file has it
};

[[nodiscard]] std::span<const BuiltinProfile> builtin_profiles();
// Null: there is none of this name.
[[nodiscard]] const BuiltinProfile* find_builtin_profile(std::string_view name);

// What the profile "mcp" gives an MCP server when nobody asks for anything else.
[[nodiscard]] LimitValues mcp_defaults();

}  // namespace cordon::policy
