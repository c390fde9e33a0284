#include <thread>

#include "cordon/clock.h"

namespace cordon {
namespace {

class RealClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] WallTime wall_now() const override { return std::chrono::system_clock::now(); }
  void sleep_until(TimePoint until) override { std::this_thread::sleep_until(until); }
};

}  // namespace

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

}  // namespace cordon
