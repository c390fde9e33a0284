// write() to a pipe without SIGPIPE.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace cordon::base {

// As write(2), but a closed pipe is EPIPE and never a signal, whatever the application does with
// SIGPIPE.
[[nodiscard]] ssize_t write_without_sigpipe(int fd, std::string_view data);
// The same by older means, for kernels that cannot be told: it has three more system calls.
[[nodiscard]] ssize_t write_with_sigpipe_blocked(int fd, std::string_view data);

}  // namespace cordon::base
