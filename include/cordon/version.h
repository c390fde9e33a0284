// The version of the library a program is linked with. Safe to call from any thread.
#pragma once

#include <string_view>

namespace cordon {

// "MAJOR.MINOR.PATCH"; lives as long as the program.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace cordon
