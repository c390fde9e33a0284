// The values of options, from text. The messages name the value; the caller names the option.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "cordon/clock.h"
#include "cordon/error.h"

namespace cordon::app {

// `"value" why`.
[[nodiscard]] std::unexpected<Error> bad_value(std::string_view value, std::string_view why);

// Puts a value that could be parsed into its field.
template <typename Field, typename T>
[[nodiscard]] Result<void> store(Field& field, Result<T> value) {
  if (!value) return std::unexpected(std::move(value).error());
  field = *std::move(value);
  return {};
}

// A whole number.
[[nodiscard]] Result<std::uint64_t> parse_count(std::string_view text);
// As parse_duration(), but not zero, and "none" is kNoTimeout.
[[nodiscard]] Result<Duration> parse_timeout(std::string_view text);
// Processors with up to three decimals: "0.5" is 500.
[[nodiscard]] Result<std::uint32_t> parse_millicores(std::string_view text);
// Made absolute by the current directory, without "." and ".."; links are not followed.
[[nodiscard]] Result<std::string> parse_path(std::string_view text);

}  // namespace cordon::app
