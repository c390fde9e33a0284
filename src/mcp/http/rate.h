// How often somebody may ask: so many requests a second on average, and as many at once. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cordon/clock.h"

namespace cordon::mcp {

class HttpRate {
 public:
  // 0: any number.
  explicit HttpRate(std::uint32_t per_second) : per_second_(per_second) {}

  // Nothing: `who` may. Otherwise the time after which to try again.
  [[nodiscard]] std::optional<Duration> take(std::string_view who, TimePoint now);
  [[nodiscard]] std::size_t known() const { return left_.size(); }

 private:
  struct Left {
    double requests;
    TimePoint at;
  };
  void forget(TimePoint now);

  std::uint32_t per_second_;
  std::map<std::string, Left, std::less<>> left_;
};

}  // namespace cordon::mcp
