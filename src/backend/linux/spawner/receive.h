// Scripts on their way from the supervisor into this process.
#pragma once

#include <cstdint>

namespace cordon::linux_backend::spawner {

inline constexpr std::uint64_t kCloseOnExec = 0x40000000;  // MSG_CMSG_CLOEXEC

// Waits for one, and puts it to kArena. Its descriptors get the lowest numbers that are free.
// False: the supervisor is done, or what it sends is no script.
[[nodiscard]] bool receive_script(int socket, std::uint64_t flags);

// The script that is there, and all descriptors from kFirstFd: nothing of one run may be seen by
// the next. Ends the process if it cannot.
void forget_script();

}  // namespace cordon::linux_backend::spawner
