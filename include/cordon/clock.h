// Time as the library sees it.
//
// Code that manages processes asks its Manager for the clock (`manager.clock()`) instead of the OS,
// so that the same code runs in virtual time on the memory backend. All methods are thread-safe.
#pragma once

#include <chrono>

namespace cordon {

using Duration = std::chrono::nanoseconds;
// Monotonic; meaningful only in comparison with other values of the same Clock.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;

  [[nodiscard]] virtual TimePoint now() const = 0;
  // The date; may jump. For records, never for deadlines.
  [[nodiscard]] virtual WallTime wall_now() const = 0;
  // Returns at `until` or, if that is past, at once.
  virtual void sleep_until(TimePoint until) = 0;
};

// The OS's clock. Lives as long as the program.
[[nodiscard]] Clock& real_clock();

}  // namespace cordon
