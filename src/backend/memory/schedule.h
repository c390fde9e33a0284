// What is due when: an intrusive heap of timers. Not thread-safe: the simulation locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cordon/clock.h"

namespace cordon::memory {

class Lock;

// Embedded in what it wakes; must be cancelled before it is destroyed.
struct Timer {
  using Fire = void (*)(void* owner, Lock& lock);
  Timer(Fire fire_function, void* fire_owner) : fire(fire_function), owner(fire_owner) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  static constexpr std::size_t kIdle = SIZE_MAX;
  [[nodiscard]] bool armed() const { return slot != kIdle; }

  Fire fire;
  void* owner;
  TimePoint at{};
  std::uint64_t order = 0;  // breaks ties: armed first, fired first
  std::size_t slot = kIdle;
};

class Schedule {
 public:
  // Arms the timer, or moves it if it is armed.
  void arm(Timer& timer, TimePoint at);
  void cancel(Timer& timer);
  // The earliest, or null.
  [[nodiscard]] Timer* first() const { return heap_.empty() ? nullptr : heap_.front(); }

 private:
  static bool before(const Timer& a, const Timer& b) {
    return a.at != b.at ? a.at < b.at : a.order < b.order;
  }
  void place(std::size_t slot, Timer* timer);
  void sift_up(std::size_t slot);
  void sift_down(std::size_t slot);

  std::vector<Timer*> heap_;
  std::uint64_t armed_ = 0;
};

}  // namespace cordon::memory
