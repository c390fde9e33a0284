// What start() says when a scripted program cannot be executed.
#pragma once

#include <string_view>

#include "cordon/error.h"

namespace cordon::memory {

// As a failed exec; name_program() fills the program's name in.
[[nodiscard]] Error exec_error(int os_error);
[[nodiscard]] Error name_program(Error error, std::string_view program);

}  // namespace cordon::memory
