// Names of sandboxes (validate_sandbox_id() in cordon/sandbox.h) and of their lives.
#pragma once

#include <cstddef>
#include <string>

#include "cordon/error.h"

namespace cordon::sandbox {

inline constexpr std::size_t kLongestId = 64;

// "c" and 32 hexadecimal digits: 128 random bits, so none is ever used again. Fits wherever a
// sandbox id does. Error: the OS has no random numbers.
[[nodiscard]] Result<std::string> new_container_id();

}  // namespace cordon::sandbox
