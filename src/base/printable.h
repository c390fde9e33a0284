// Foreign text on a terminal: names of files, arguments, what a program calls itself.
#pragma once

#include <string>
#include <string_view>

namespace cordon::base {

// `text` on one line that cannot command a terminal: control characters (C0, DEL, C1) and bytes
// that are not UTF-8 appear as \xNN, newline and tab as \n and \t. Everything else is as it was.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace cordon::base
