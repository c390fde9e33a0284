#include "audit/time_text.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

namespace cordon::audit {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Takes exactly `digits` of them, followed by nothing in particular.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  int value = 0;
  const std::string_view part = text.substr(0, digits);
  if (part.size() < digits || part.front() == '-') return std::nullopt;
  const auto parsed = std::from_chars(part.data(), part.data() + part.size(), value);
  if (parsed.ptr != part.data() + part.size()) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::chrono::sys_days> take_date(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

std::optional<nanoseconds> take_decimals(std::string_view& text) {
  std::int64_t value = 0;
  std::int64_t unit = 1'000'000'000;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9' && unit > 1) {
    unit /= 10;
    value += unit * (text.front() - '0');
    text.remove_prefix(1);
  }
  if (unit == 1'000'000'000) return std::nullopt;
  return nanoseconds(value);
}

std::optional<nanoseconds> take_clock(std::string_view& text) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  nanoseconds clock = hours(*hour) + minutes(*minute);
  if (!take(text, ':')) return clock;
  const auto second = take_number(text, 2);
  if (!second || *second > 60) return std::nullopt;
  clock += seconds(*second);
  if (!take(text, '.')) return clock;
  const auto decimals = take_decimals(text);
  if (!decimals) return std::nullopt;
  return clock + *decimals;
}

// How far the place is ahead of UTC.
std::optional<nanoseconds> take_zone(std::string_view& text) {
  if (text.empty() || take(text, 'Z')) return nanoseconds(0);
  const bool behind = text.starts_with('-');
  if (!behind && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  const nanoseconds ahead = hours(*hour) + minutes(*minute);
  return behind ? -ahead : ahead;
}

}  // namespace

std::string time_text(WallTime time) {
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const auto micro = std::chrono::floor<std::chrono::microseconds>(time - day).count();
  const auto second = micro / 1'000'000;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     second / 3600, second / 60 % 60, second % 60, micro % 1'000'000);
}

std::optional<WallTime> parse_time(std::string_view text) {
  const auto date = take_date(text);
  // Before and after these a count of nanoseconds does not reach.
  if (!date || *date < std::chrono::sys_days(std::chrono::year(1700) / 1 / 1) ||
      *date > std::chrono::sys_days(std::chrono::year(2200) / 1 / 1)) {
    return std::nullopt;
  }
  WallTime time = *date;
  if (text.empty()) return time;
  if (!take(text, 'T') && !take(text, ' ')) return std::nullopt;
  const auto clock = take_clock(text);
  if (!clock) return std::nullopt;
  const auto ahead = take_zone(text);
  if (!ahead || !text.empty()) return std::nullopt;
  return time + *clock - *ahead;
}

}  // namespace cordon::audit
