// A directory that only root and the caller have a hand in.
#pragma once

#include <string>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::audit {

// Opens `path` from the root on, part by part, and looks at each part that is open: whoever could
// rename or replace one of them could put another directory in its place. Each must belong to root
// or the caller and be writable to nobody else, except a sticky one such as /tmp, where only the
// owner of the next part can move it. What is missing is made, for the caller alone.
// Errors: not_permitted (names the part and what to do), not_found, invalid_argument.
[[nodiscard]] Result<base::Fd> open_safe_directory(const std::string& path);

}  // namespace cordon::audit
