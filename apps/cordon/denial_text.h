// What a program was refused, to be read: for `cordon run --explain`, and for whoever has the
// denials of an earlier run.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "cordon/outcome.h"

namespace cordon::app {

// What would allow a denial, in place of Denial::allow: a line of a policy, for one. An empty
// answer leaves it as it is.
using AllowText = std::function<std::string(const Denial&)>;

// Lines with a heading, each ended by a newline; safe for a terminal whatever the program has
// named. "Nothing was refused" is one line too.
[[nodiscard]] std::string denial_text(std::span<const Denial> denials, std::uint64_t omitted,
                                      const AllowText& allow = {});

}  // namespace cordon::app
