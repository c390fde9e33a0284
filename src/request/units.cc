#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "base/errors.h"
#include "cordon/request.h"

namespace cordon {
namespace {

using base::fail;

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKibi = 1024.0;
constexpr Unit kSizeUnits[] = {
    {"", 1},
    {"B", 1},
    {"K", kKibi},
    {"M", kKibi* kKibi},
    {"G", kKibi* kKibi* kKibi},
    {"T", kKibi* kKibi* kKibi* kKibi},
};
constexpr Unit kTimeUnits[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9},
};

// A decimal number followed by one of `units`; nothing on any other text.
template <std::size_t N>
std::optional<double> parse(std::string_view text, const Unit (&units)[N]) {
  double number = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || text.front() == '-') return std::nullopt;
  const std::string_view suffix(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  for (const Unit& unit : units) {
    if (suffix == unit.name) return number * unit.factor;
  }
  return std::nullopt;
}

// Doubles hold every whole number below this; larger sizes and times are absurd anyway.
constexpr double kLargest = 9007199254740992.0;  // 2^53

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto bytes = parse(text, kSizeUnits);
  if (!bytes) {
    return fail(ErrorCode::invalid_argument, "parse",
                "\"" + std::string(text) +
                    "\" is not a size: write a number with an optional K, M, G or T, like 64M");
  }
  if (*bytes >= kLargest || *bytes != std::floor(*bytes)) {
    return fail(ErrorCode::invalid_argument, "parse",
                "\"" + std::string(text) +
                    "\" is not a usable size: it must be a whole number of bytes below 8192T");
  }
  return static_cast<std::uint64_t>(*bytes);
}

Result<Duration> parse_duration(std::string_view text) {
  const auto nanoseconds = parse(text, kTimeUnits);
  if (!nanoseconds) {
    return fail(ErrorCode::invalid_argument, "parse",
                "\"" + std::string(text) +
                    "\" is not a duration: write a number and its unit (ms, s, m, h), like 250ms");
  }
  // 100 years; beyond that arithmetic on time points could overflow.
  constexpr double kCentury = 100.0 * 365 * 86400 * 1e9;
  if (*nanoseconds > kCentury) {
    return fail(ErrorCode::invalid_argument, "parse",
                "\"" + std::string(text) + "\" is too long a duration: the most is 100 years");
  }
  return Duration(std::llround(*nanoseconds));  // 1.001 * 1e9 is just below 1001000000
}

}  // namespace cordon
