// Real descriptors behind a scripted program's streams (Input::inherit, Output::to_fd …).
//
// These calls may block: never make them under the simulation's lock.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::memory {

// A descriptor of our own for the same file: the caller's is only borrowed. A standard stream
// (`inherited`) that the caller itself lacks gives null.
[[nodiscard]] Result<std::shared_ptr<const base::Fd>> borrow(int fd, std::string_view stream,
                                                             bool inherited);

// Waits for data; empty at end of file or failure.
[[nodiscard]] std::string read_some(int fd);
// Returns 0 or the errno; EPIPE comes without SIGPIPE.
[[nodiscard]] int write_all(int fd, std::string_view data);

}  // namespace cordon::memory
