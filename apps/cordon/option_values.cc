#include "option_values.h"

#include <charconv>
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

}  // namespace cordon::app
