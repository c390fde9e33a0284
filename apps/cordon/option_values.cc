#include "option_values.h"

#include <charconv>
#include <filesystem>
#include <system_error>

#include "base/errors.h"
#include "concat.h"
#include "cordon/request.h"

namespace cordon::app {

std::unexpected<Error> bad_value(std::string_view value, std::string_view why) {
  return base::fail(ErrorCode::invalid_argument, "usage", concat("\"", value, "\" ", why));
}

Result<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error == std::errc::result_out_of_range) return bad_value(text, "is too large a number");
  if (error != std::errc{} || end != text.end()) {
    return bad_value(text, "is not a whole number: write digits, like 64");
  }
  return value;
}

Result<Duration> parse_timeout(std::string_view text) {
  if (text == "none") return kNoTimeout;
  auto duration = parse_duration(text);
  // To the library 0 means "as usual"; here it can only be a mistake.
  if (duration && *duration == Duration{0}) {
    return bad_value(text, "leaves no time at all: write \"none\" to run without a timeout");
  }
  return duration;
}

Result<std::uint32_t> parse_millicores(std::string_view text) {
  constexpr std::uint32_t kCore = 1000;
  constexpr std::uint32_t kMostCores = 1'000'000;
  constexpr std::size_t kDecimals = 3;
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view part =
      point == std::string_view::npos ? std::string_view("0") : text.substr(point + 1);
  const auto digits = [](std::string_view some) {
    return !some.empty() && some.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!digits(whole) || !digits(part)) {
    return bad_value(text, "is not a number of processors: write one like 2 or 0.5");
  }
  if (part.size() > kDecimals) return bad_value(text, "is too exact: three decimals are the most");
  std::uint32_t cores = 0;
  const auto [end, error] = std::from_chars(whole.begin(), whole.end(), cores);
  if (error != std::errc{} || end != whole.end() || cores > kMostCores) {
    return bad_value(text, "is too large a number");
  }
  std::uint32_t millicores = cores * kCore;
  std::uint32_t worth = kCore;
  for (const char digit : part) {
    worth /= 10;
    millicores += worth * static_cast<std::uint32_t>(digit - '0');
  }
  return millicores;
}

Result<std::string> parse_path(std::string_view text) {
  if (text.empty()) return bad_value(text, "names no path");
  std::error_code error;
  const auto absolute = std::filesystem::absolute(text, error);
  if (error) return bad_value(text, "is relative, and the current directory is gone");
  std::string path = absolute.lexically_normal();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace cordon::app
