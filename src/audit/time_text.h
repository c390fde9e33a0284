// Times of records: RFC 3339 in UTC with microseconds, so that comparing the text compares the
// times.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cordon/clock.h"

namespace cordon::audit {

// "2026-01-31T23:59:59.123456Z".
[[nodiscard]] std::string time_text(WallTime time);

// From "2026-01-31", "2026-01-31T23:59" or with seconds, up to nine decimals, and "Z" or "+01:00"
// at the end; without one it is UTC. Empty: not a time.
[[nodiscard]] std::optional<WallTime> parse_time(std::string_view text);

}  // namespace cordon::audit
