// The values of options, from text. Each error is the second half of a sentence that begins with
// the option and its value.
#pragma once

#include <cstdint>
#include <string>

#include "cordon/clock.h"
#include "cordon/error.h"

namespace cordon::app {

[[nodiscard]] std::unexpected<Error> bad_value(std::string message);

// A whole number of 1 or more.
[[nodiscard]] Result<std::uint64_t> positive_count(const std::string& text);
// "64M"; not zero.
[[nodiscard]] Result<std::uint64_t> positive_size(const std::string& text);
// "250ms"; not zero.
[[nodiscard]] Result<Duration> positive_duration(const std::string& text);

}  // namespace cordon::app
