// Opening what is below a directory while somebody hostile may be changing it.
#pragma once

#include <cstdint>

#include "base/fd.h"

namespace cordon::workdir {

// openat2(): never through a link, out of `directory`, or into another file system (EXDEV). On
// failure the Fd is empty and errno says why.
[[nodiscard]] base::Fd open_beneath(int directory, const char* path, std::uint64_t flags);

// A directory to be emptied: if its mode keeps its owner out it is changed, through the very inode
// that was opened. Fails as open_beneath(), with ENOTDIR for what is no directory.
[[nodiscard]] base::Fd open_to_empty(int directory, const char* name);

}  // namespace cordon::workdir
