// Short ways to make an Error.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "cordon/error.h"

namespace cordon::base {

[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, std::string_view stage,
                                          std::string message);

// The same for a failed system call: "message: <what errno means>". The code follows from the errno
// (EMFILE, ENFILE, ENOMEM, EAGAIN → resource_exhausted, EPERM, EACCES → not_permitted …).
[[nodiscard]] std::unexpected<Error> fail_os(std::string_view stage, int os_error,
                                             std::string message);

// "No such file or directory"; thread-safe.
[[nodiscard]] std::string errno_text(int os_error);
[[nodiscard]] ErrorCode code_of_errno(int os_error);

}  // namespace cordon::base
