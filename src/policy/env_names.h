// Names of environment variables: which are names at all, and which make a program load or run
// somebody else's code.
#pragma once

#include <string_view>

namespace cordon::policy {

// [A-Za-z_][A-Za-z0-9_]*
[[nodiscard]] bool is_env_name(std::string_view name);

// LD_PRELOAD, NODE_OPTIONS, BASH_ENV, GIT_SSH_COMMAND …: passed or set only if the exact name was
// granted.
[[nodiscard]] bool is_dangerous(std::string_view name);

}  // namespace cordon::policy
