#include "policy/values.h"

#include <array>
#include <string_view>

#include "cordon/request.h"

namespace cordon::policy {

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1024;
  constexpr std::string_view kUnits = "KMGT";
  std::string unit;
  for (std::size_t i = 0; i < kUnits.size() && bytes > 0 && bytes % kKibi == 0; ++i) {
    bytes /= kKibi;
    unit = kUnits[i];
  }
  return std::to_string(bytes) + unit;
}

std::string duration_text(Duration duration) {
  if (duration == kNoTimeout) return "none";
  struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
  };
  constexpr std::array<Unit, 5> kUnits = {{{"h", 3'600'000'000'000},
                                           {"m", 60'000'000'000},
                                           {"s", 1'000'000'000},
                                           {"ms", 1'000'000},
                                           {"us", 1'000}}};
  const std::int64_t count = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  for (const auto& [name, nanoseconds] : kUnits) {
    if (count != 0 && count % nanoseconds == 0) {
      return std::to_string(count / nanoseconds) + std::string(name);
    }
  }
  return std::to_string(count) + "ns";
}

std::string millicores_text(std::uint64_t value) { return std::to_string(value) + " millicores"; }
std::string count_text(std::uint64_t value) { return std::to_string(value); }

}  // namespace cordon::policy
