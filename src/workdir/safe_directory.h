// Directories that nobody but the caller and root can change the names in.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::workdir {

// Opens the directory `below` (one name) in the directory `path`, both made with mode 0700 if they
// are missing, like everything above them.
//
// Each directory on the way, from the root on, must be a real one (no link), belong to root or the
// caller, and not be writable by others. The one exception: a sticky directory such as /tmp may be
// above `path`, because there nobody can rename or remove what is ours, and what is next on the way
// is ours or root's. Errors: invalid_argument (not absolute, ".."), not_permitted, the OS's.
[[nodiscard]] Result<base::Fd> open_safe_directory(const std::string& path, std::string_view below);

}  // namespace cordon::workdir
