// What system calls are called.
#pragma once

#include <string>
#include <string_view>

namespace cordon::linux_backend {

// Of x86_64: "mount". One without a name is "system call 999".
[[nodiscard]] std::string system_call_name(int number);

}  // namespace cordon::linux_backend
