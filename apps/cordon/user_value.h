// The value of --user.
#pragma once

#include <string_view>

#include "cordon/error.h"
#include "cordon/isolation.h"

namespace cordon::app {

// "NAME", "UID", "NAME:GROUP", "UID:GID". Without a group it is the user's own; a uid that nobody
// has stands for the same gid.
[[nodiscard]] Result<User> parse_user(std::string_view text);

}  // namespace cordon::app
