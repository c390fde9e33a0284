#include "option_values.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "cordon/request.h"

namespace cordon::app {

std::unexpected<Error> bad_value(std::string message) {
  return std::unexpected(Error{ErrorCode::invalid_argument, "usage", 0, std::move(message)});
}

Result<std::uint64_t> positive_count(const std::string& text) {
  std::uint64_t value = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, value);
  if (error == std::errc::result_out_of_range) return bad_value("the number is too large");
  if (error != std::errc{} || end != text_end) {
    return bad_value("not a whole number; write it in digits, e.g. 64");
  }
  if (value == 0) return bad_value("must be 1 or more");
  return value;
}

Result<std::uint64_t> positive_size(const std::string& text) {
  auto size = parse_size(text);
  if (size && *size == 0) return bad_value("must be more than zero");
  return size;
}

Result<Duration> positive_duration(const std::string& text) {
  auto duration = parse_duration(text);
  if (duration && *duration == Duration{0}) return bad_value("must be more than zero");
  return duration;
}

}  // namespace cordon::app
