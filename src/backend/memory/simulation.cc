#include "backend/memory/simulation.h"

#include <algorithm>

namespace cordon::memory {

TimePoint Simulation::after(Duration patience) const {
  const TimePoint from = now();
  if (patience <= Duration{0}) return from;
  return patience > TimePoint::max() - from ? TimePoint::max() : from + patience;
}

void Simulation::make_ready(Runnable& runnable) {
  if (runnable.queued) return;
  runnable.queued = true;
  runnable.previous_ready = ready_tail_;
  runnable.next_ready = nullptr;
  (ready_tail_ != nullptr ? ready_tail_->next_ready : ready_head_) = &runnable;
  ready_tail_ = &runnable;
  changed();
}

void Simulation::unready(Runnable& runnable) {
  if (!runnable.queued) return;
  runnable.queued = false;
  Runnable* const previous = runnable.previous_ready;
  Runnable* const next = runnable.next_ready;
  (previous != nullptr ? previous->next_ready : ready_head_) = next;
  (next != nullptr ? next->previous_ready : ready_tail_) = previous;
}

void Simulation::arm(Timer& timer, TimePoint at) {
  schedule_.arm(timer, at);
  changed();
}

void Simulation::set_now(TimePoint now) {
  now_.store(now.time_since_epoch().count());
  changed();
}

bool Simulation::step(Lock& lock) {
  if (Runnable* const runnable = ready_head_; runnable != nullptr) {
    unready(*runnable);
    runnable->run(lock);
  } else if (Timer* const timer = schedule_.first(); timer != nullptr && timer->at <= now()) {
    schedule_.cancel(*timer);
    timer->fire(timer->owner, lock);
  } else {
    return false;
  }
  lock.flush();
  lock.give_way();
  return true;
}

void Simulation::settle(Lock& lock) {
  while (step(lock)) {
  }
}

bool Simulation::others_are_busy(const Waiter& self) const {
  if (std::ranges::any_of(outside_, [&](auto thread) { return thread != self.thread; })) {
    return true;
  }
  for (const Waiter* other = waiters_; other != nullptr; other = other->next) {
    if (other->thread == self.thread) continue;
    if (other->deadline <= now() || other->satisfied(other->context)) return true;
  }
  return false;
}

bool Simulation::jump(const Waiter& self) {
  if (others_are_busy(self)) {
    wake_.notify_all();
    return false;
  }
  TimePoint next = TimePoint::max();
  if (const Timer* const timer = schedule_.first()) next = timer->at;
  for (const Waiter* other = waiters_; other != nullptr; other = other->next) {
    if (other->deadline > now()) next = std::min(next, other->deadline);
  }
  if (next == TimePoint::max()) return false;
  set_now(next);
  return true;
}

void Simulation::join(Waiter& waiter) {
  waiter.next = waiters_;
  if (waiters_ != nullptr) waiters_->previous = &waiter;
  waiters_ = &waiter;
}

void Simulation::leave(Waiter& waiter) {
  if (waiter.next != nullptr) waiter.next->previous = waiter.previous;
  (waiter.previous != nullptr ? waiter.previous->next : waiters_) = waiter.next;
  changed();  // somebody else may have to run the programs now
}

bool Simulation::wait(Lock& lock, TimePoint deadline, bool (*satisfied)(const void*),
                      const void* context, bool may_sleep) {
  Waiter self{satisfied, context, deadline, std::this_thread::get_id()};
  join(self);
  bool done = false;
  for (;;) {
    done = satisfied(context);
    if (done) break;
    if (step(lock)) continue;
    if (now() >= deadline) break;
    if (options_.self_advancing && jump(self)) continue;
    if (!may_sleep) break;
    ++sleepers_;
    wake_.wait(lock.held_);
    --sleepers_;
  }
  leave(self);
  return done;
}

void Simulation::drive_for_listeners(Lock& lock) {
  const auto done = [this] { return listeners == 0 || told > 0; };
  if (!done()) (void)wait(lock, TimePoint::max(), &call<decltype(done)>, &done, false);
}

void Simulation::advance(Lock& lock, Duration duration) {
  const TimePoint target = after(duration);
  for (;;) {
    settle(lock);
    const Timer* const timer = schedule_.first();
    if (timer == nullptr || timer->at > target) break;
    set_now(std::max(now(), timer->at));
  }
  if (target > now()) set_now(target);
}

bool Simulation::advance_to_next(Lock& lock) {
  settle(lock);
  const Timer* const timer = schedule_.first();
  if (timer == nullptr) return false;
  set_now(std::max(now(), timer->at));
  settle(lock);
  return true;
}

}  // namespace cordon::memory
