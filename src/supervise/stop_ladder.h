// The stop ladder: SIGTERM, grace, SIGKILL (C33). Pure; the owner sends what it says.
#pragma once

#include <optional>

#include "cordon/clock.h"
#include "cordon/outcome.h"

namespace cordon::supervise {

class StopLadder {
 public:
  // Begins to stop the process for `cause`, or hurries a stop already under way: the first cause
  // stays, the time to SIGKILL only gets shorter. Returns the signal to send to the whole tree now,
  // or 0.
  [[nodiscard]] int begin(Verdict cause, TimePoint now, Duration grace);
  // Returns SIGKILL when the grace is over, else 0.
  [[nodiscard]] int on_time(TimePoint now);
  // When on_time() wants to be called.
  [[nodiscard]] std::optional<TimePoint> next() const { return kill_at_; }
  [[nodiscard]] std::optional<Verdict> cause() const { return cause_; }

 private:
  std::optional<Verdict> cause_;
  std::optional<TimePoint> kill_at_;
  bool killed_ = false;
};

}  // namespace cordon::supervise
