// TOML text as a tree. The only file that knows the TOML library.
#pragma once

#include <string>
#include <string_view>

#include "cordon/error.h"
#include "policy/node.h"

namespace cordon::policy {

// `file` is the name that places and errors give. Errors: invalid_argument, "FILE:LINE:COLUMN: …".
[[nodiscard]] Result<Node> read_toml(std::string_view text, const std::string& file);

}  // namespace cordon::policy
