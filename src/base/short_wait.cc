#include "base/short_wait.h"

#include <algorithm>
#include <thread>

namespace cordon::base {
namespace {

constexpr Duration kShortest = std::chrono::microseconds(16);

}  // namespace

bool ShortWait::has_processors() { return std::thread::hardware_concurrency() > 1; }

void ShortWait::let_others_run() { std::this_thread::yield(); }

void ShortWait::learn(Duration took) {
  // Who asks and who answers take turns, and one of them may take longer than the other.
  if (worth_it_ && took <= kLongest) {
    window_ = std::min(std::max(2 * took, window_ - window_ / 8), kLongest);
  } else {
    window_ = window_ / 4 < kShortest ? Duration{0} : window_ / 4;
  }
}

}  // namespace cordon::base
