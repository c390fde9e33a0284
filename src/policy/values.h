// Values as people write them, for decisions and errors.
#pragma once

#include <cstdint>
#include <string>

#include "cordon/clock.h"

namespace cordon::policy {

[[nodiscard]] std::string size_text(std::uint64_t bytes);        // "512M", "1000"
[[nodiscard]] std::string duration_text(Duration duration);      // "5m", "250ms", "none"
[[nodiscard]] std::string millicores_text(std::uint64_t value);  // "1000 millicores"
[[nodiscard]] std::string count_text(std::uint64_t value);

}  // namespace cordon::policy
