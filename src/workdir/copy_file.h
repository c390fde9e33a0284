// The content of one regular file into another.
#pragma once

#include <cstdint>

namespace cordon::workdir {

// Copies at most `size` bytes to the empty file behind `to`; a hole is not filled. If `from` has
// become shorter meanwhile, so is `to`. Returns 0 or an errno.
[[nodiscard]] int copy_file(int from, int to, std::uint64_t size);

}  // namespace cordon::workdir
