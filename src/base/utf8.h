// UTF-8: is it, and if not, make it so. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace cordon::base {

// Well-formed by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text);

// `text` with U+FFFD in place of every byte that belongs to no well-formed character.
[[nodiscard]] std::string to_utf8(std::string_view text);

}  // namespace cordon::base
