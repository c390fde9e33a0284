// Waits that are likely to be short are spent looking, not asleep: to wake a sleeping thread on a
// processor that has gone to sleep with it takes longer than a small program takes to answer.
//
// How long a wait may be spent so is learned from the waits before. After short ones, about twice
// as long is: whoever talks to and fro is answered at once. With each long one it is a quarter of
// that, until it is nothing: the end of a talk costs at most a third more than kLongest of a
// processor, and a quiet peer nothing.
//
// Not thread-safe: one for each thread that waits.
#pragma once

#include <chrono>

#include "cordon/clock.h"

namespace cordon::base {

class ShortWait {
 public:
  static constexpr Duration kLongest = std::chrono::microseconds(500);
  // Between two looks others may have run: if for so long, they need the processor more than we do.
  static constexpr Duration kCrowded = std::chrono::microseconds(100);

  // With one processor, whoever is waited for could not run meanwhile.
  explicit ShortWait(Clock& clock = real_clock()) : ShortWait(clock, has_processors()) {}
  ShortWait(Clock& clock, bool worth_it) : clock_(clock), worth_it_(worth_it) {}

  // One wait: `look` is asked until it says that there is something, or it is no longer worth it;
  // then `sleep` waits for it.
  template <typename Look, typename Sleep>
  void wait(Look look, Sleep sleep) {
    const TimePoint begin = clock_.now();
    if (window_ == Duration{0} || !finds(look, begin)) sleep();
    learn(clock_.now() - begin);
  }

  // How long the next one will look.
  [[nodiscard]] Duration window() const { return window_; }

 private:
  template <typename Look>
  bool finds(Look& look, TimePoint begin) {
    for (TimePoint last = begin; !look();) {
      let_others_run();
      const TimePoint now = clock_.now();
      // Those who ran meanwhile may be those we wait for.
      if (now - last > kCrowded || now - begin >= window_) return look();
      last = now;
    }
    return true;
  }

  [[nodiscard]] static bool has_processors();
  static void let_others_run();
  void learn(Duration took);

  Clock& clock_;
  bool worth_it_;
  Duration window_{0};
};

}  // namespace cordon::base
