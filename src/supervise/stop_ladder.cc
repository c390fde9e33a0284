#include "supervise/stop_ladder.h"

#include <algorithm>
#include <csignal>

namespace cordon::supervise {

int StopLadder::begin(Verdict cause, TimePoint now, Duration grace) {
  const bool first = !cause_;
  if (first) cause_ = cause;
  if (killed_) return 0;
  if (grace <= Duration{0}) {
    killed_ = true;
    kill_at_.reset();
    return SIGKILL;
  }
  const TimePoint at = grace > TimePoint::max() - now ? TimePoint::max() : now + grace;
  kill_at_ = kill_at_ ? std::min(*kill_at_, at) : at;
  return first ? SIGTERM : 0;
}

int StopLadder::on_time(TimePoint now) {
  if (!kill_at_ || now < *kill_at_) return 0;
  kill_at_.reset();
  killed_ = true;
  return SIGKILL;
}

}  // namespace cordon::supervise
