// The values of options, from text. The messages name the value; the caller names the option.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cordon/clock.h"
#include "cordon/error.h"

namespace cordon::app {

// `"value" why`.
[[nodiscard]] std::unexpected<Error> bad_value(std::string_view value, std::string_view why);

// A whole number.
[[nodiscard]] Result<std::uint64_t> parse_count(std::string_view text);
// As parse_duration(), but not zero, and "none" is kNoTimeout.
[[nodiscard]] Result<Duration> parse_timeout(std::string_view text);

}  // namespace cordon::app
