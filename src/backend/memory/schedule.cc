#include "backend/memory/schedule.h"

namespace cordon::memory {

void Schedule::arm(Timer& timer, TimePoint at) {
  cancel(timer);
  timer.at = at;
  timer.order = armed_++;
  heap_.push_back(&timer);
  timer.slot = heap_.size() - 1;
  sift_up(timer.slot);
}

void Schedule::cancel(Timer& timer) {
  if (!timer.armed()) return;
  const std::size_t hole = timer.slot;
  timer.slot = Timer::kIdle;
  Timer* const last = heap_.back();
  heap_.pop_back();
  if (last == &timer) return;
  place(hole, last);
  sift_up(hole);
  sift_down(last->slot);
}

void Schedule::place(std::size_t slot, Timer* timer) {
  heap_[slot] = timer;
  timer->slot = slot;
}

void Schedule::sift_up(std::size_t slot) {
  Timer* const timer = heap_[slot];
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / 2;
    if (!before(*timer, *heap_[parent])) break;
    place(slot, heap_[parent]);
    slot = parent;
  }
  place(slot, timer);
}

void Schedule::sift_down(std::size_t slot) {
  Timer* const timer = heap_[slot];
  for (;;) {
    std::size_t child = 2 * slot + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) ++child;
    if (!before(*heap_[child], *timer)) break;
    place(slot, heap_[child]);
    slot = child;
  }
  place(slot, timer);
}

}  // namespace cordon::memory
