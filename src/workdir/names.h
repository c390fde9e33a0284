// What work directories are called: NAME-VERSION-NANOS, and with ".kept" those that stay.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cordon/error.h"

namespace cordon::workdir {

inline constexpr std::string_view kKept = ".kept";

// "NAME-VERSION-", with "_" for each "/". Error: invalid_argument, for names that are empty, too
// long, contain control characters (newline, NUL …) or the path component "..".
[[nodiscard]] Result<std::string> name_prefix(std::string_view name, std::string_view version);

// Whether a directory of this name is one of ours that is not to be kept.
[[nodiscard]] bool may_be_swept(std::string_view name);

// As default_cache(); an empty value is a variable that is not set. XDG_CACHE_HOME counts only if
// it is absolute, as its specification says.
[[nodiscard]] Result<std::string> cache_for(std::uint32_t uid, std::string_view xdg_cache_home,
                                            std::string_view home);

}  // namespace cordon::workdir
