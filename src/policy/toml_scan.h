// A look at TOML text before the parser sees it.
//
// toml++ 3.3 recurses for every nested array and every part of a dotted key, and its behaviour is
// undefined for characters beyond ASCII where it expects neither a string nor a comment, which in
// malformed text may be anywhere. A policy comes from a file, and a file may hold anything: what
// the parser must not see is found or replaced here, in one pass without recursion.
#pragma once

#include <string>
#include <string_view>

#include "cordon/error.h"

namespace cordon::policy {

// The text with nothing beyond ASCII in it: in strings such bytes, and "~", become "~c3"; in
// comments such characters become "?". Errors: invalid_argument, "FILE:LINE:COLUMN: …" (a NUL byte,
// text that is not UTF-8, characters beyond ASCII outside strings and comments, nesting or keys
// deeper than kMostDepth).
[[nodiscard]] Result<std::string> toml_in_ascii(std::string_view text, const std::string& file);

// A string of that text as it was.
[[nodiscard]] std::string from_ascii(std::string_view text);

}  // namespace cordon::policy
