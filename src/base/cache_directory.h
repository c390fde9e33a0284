// Where Cordon keeps what can be made again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cordon::base {

// Of this user; an empty value is a variable that is not set. XDG_CACHE_HOME counts only if it is
// absolute, as its specification says. Empty: there is none.
[[nodiscard]] std::string cache_directory(std::uint32_t uid, std::string_view xdg_cache_home,
                                          std::string_view home);

// In that: images that were unpacked.
inline constexpr std::string_view kImagesDirectory = "images";

}  // namespace cordon::base
