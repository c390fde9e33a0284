#include "pool_pace.h"

#include <algorithm>

namespace cordon::app::pool {

void Pace::add(Duration held) { held_[count_++ % kRemembered] = held; }

std::optional<Duration> Pace::expected(std::uint64_t waiting, std::uint64_t places) const {
  if (count_ < kFewest) return std::nullopt;
  auto held = held_;
  const auto end = held.begin() + static_cast<std::ptrdiff_t>(std::min(count_, kRemembered));
  const auto median = held.begin() + (end - held.begin()) / 2;
  std::nth_element(held.begin(), median, end);
  // A place is free each `median / places`. In floating point, which does not overflow.
  const double turns = static_cast<double>(waiting + 1) / static_cast<double>(places);
  const std::chrono::duration<double, Duration::period> wait(static_cast<double>(median->count()) *
                                                             turns);
  constexpr Duration kLongest = std::chrono::hours(24);
  return wait < kLongest ? std::chrono::duration_cast<Duration>(wait) : kLongest;
}

}  // namespace cordon::app::pool
