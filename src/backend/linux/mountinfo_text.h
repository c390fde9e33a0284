// Paths as /proc/PID/mountinfo writes them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cordon::linux_backend {

// With its spaces, tabs, newlines and backslashes, which are written as \ooo.
[[nodiscard]] std::string unescaped_mount_path(std::string_view text);

}  // namespace cordon::linux_backend
