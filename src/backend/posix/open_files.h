// How many files this process itself may have open.
#pragma once

#include <cstdint>

namespace cordon::posix {

// For services, which need descriptors for each client and each program: the usual limit is made
// for programs that need few. Raises it to `most`, or to as many as the host allows this process. A
// program without a limit of its own inherits it.
void allow_open_files(std::uint64_t most);

}  // namespace cordon::posix
