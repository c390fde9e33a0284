// The time of day, and as much more as the test says.
#pragma once

#include <atomic>

#include "cordon/clock.h"

namespace cordon::linux_tests {

class HandClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return real_clock().now() + ahead_.load(); }
  [[nodiscard]] WallTime wall_now() const override { return real_clock().wall_now(); }
  void sleep_until(TimePoint) override {}
  void advance(Duration time) { ahead_ = ahead_.load() + time; }

 private:
  std::atomic<Duration> ahead_{Duration{0}};
};

}  // namespace cordon::linux_tests
