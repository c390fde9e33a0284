// What an HTTP request says before anybody looks at what it is about, and how one is refused. Plain
// values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/exchange.h"

namespace cordon::mcp {

struct HttpHead {
  std::string method{};
  std::string target{};
  bool http_1_1 = true;  // otherwise 1.0
  bool keep_alive = false;
  bool chunked = false;
  std::optional<std::uint64_t> length{};  // Content-Length
  Headers fields{};                       // lower-case names, in the order in which they came

  [[nodiscard]] bool has_body() const { return chunked || length.value_or(0) != 0; }
  // The first of this name; nothing: none.
  [[nodiscard]] std::optional<std::string_view> field(std::string_view name) const {
    for (const auto& [known, value] : fields) {
      if (known == name) return value;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::size_t count(std::string_view name) const {
    std::size_t found = 0;
    for (const auto& [known, value] : fields) found += known == name ? 1 : 0;
    return found;
  }
};

// An answer of the front itself: what was asked does not come to the handler.
struct HttpRefusal {
  int status = 400;
  std::string why{};  // for a person
  Headers headers{};
};

}  // namespace cordon::mcp
