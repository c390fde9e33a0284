// Words of a command line, as a person can type them into a shell.
#pragma once

#include <string>
#include <string_view>

namespace cordon::base {

// As it is where that means itself to a shell, else in quotes.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace cordon::base
