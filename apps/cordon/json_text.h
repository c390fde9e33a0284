// Parts of JSON objects, written by hand: their order and number format are a contract.
#pragma once

#include <string>
#include <string_view>

namespace cordon::app {

// A JSON string. What is not UTF-8 is replaced.
[[nodiscard]] std::string json_text(std::string_view text);
// null when empty.
[[nodiscard]] std::string json_text_or_null(std::string_view text);
[[nodiscard]] inline std::string json_bool(bool value) { return value ? "true" : "false"; }

}  // namespace cordon::app
