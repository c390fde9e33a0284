// Writing to a descriptor that may be a slow pipe or a terminal.
#pragma once

#include <string_view>

#include "cordon/error.h"

namespace cordon::app {

// Writes all of `data`, waiting as long as it takes. The error's os_error says why: EPIPE when
// the reader is gone (the command ignores SIGPIPE).
[[nodiscard]] Result<void> write_all(int fd, std::string_view data);

// The same, but gives up with the error timed_out once `stop` has something to read, even when the
// reader does not read any more.
[[nodiscard]] Result<void> write_all_until(int fd, std::string_view data, int stop);

}  // namespace cordon::app
