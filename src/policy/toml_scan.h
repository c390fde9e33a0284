// A look at TOML text before the parser sees it.
//
// toml++ 3.3 recurses for every nested array and every part of a dotted key, and its behaviour is
// undefined for characters beyond ASCII where neither a string nor a comment is. A policy comes
// from a file, and a file may hold anything: what the parser must not see is found here, in one
// pass without recursion.
#pragma once

#include <string>
#include <string_view>

#include "cordon/error.h"

namespace cordon::policy {

// Errors: invalid_argument, "FILE:LINE:COLUMN: …" (a NUL byte, text that is not UTF-8, characters
// beyond ASCII outside strings and comments, nesting or keys deeper than kMostDepth).
[[nodiscard]] Result<void> scan_toml(std::string_view text, const std::string& file);

}  // namespace cordon::policy
