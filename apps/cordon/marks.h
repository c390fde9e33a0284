// How well a guarantee is kept, at one glance: a mark, and colours on a terminal.
#pragma once

#include <string>
#include <string_view>

#include "cordon/outcome.h"

namespace cordon::app {

// Colours if `fd` is a terminal, unless NO_COLOR is set or the terminal has none.
[[nodiscard]] bool use_colours(int fd);

// "✓", "~", "✗"; green, yellow, red.
[[nodiscard]] std::string mark(Guarantee::Level level, bool colours);
[[nodiscard]] std::string bold(std::string_view text, bool colours);

}  // namespace cordon::app
