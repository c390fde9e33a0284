#include "pool_slots.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace cordon::app::pool {
namespace {

timespec until(TimePoint deadline) {
  const Duration left = std::max(Duration{0}, deadline - real_clock().now());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  return {.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
}

}  // namespace

void Slots::admit() {
  while (!closed_ && taken_ < places_ && !queue_.empty()) {
    Ticket* const next = queue_.front();
    queue_.pop_front();
    ++taken_;
    next->admitted = true;
    next->called.set();
  }
}

Slots::Got Slots::acquire(int connection, Duration patience) {
  auto called = Wake::create();
  if (!called) return Got::full;  // no descriptors left
  Ticket ticket{.called = *std::move(called)};
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Got::closing;
    if (taken_ < places_ && queue_.empty()) {
      ++taken_;
      return Got::place;
    }
    if (queue_.size() >= most_waiting_) return Got::full;
    queue_.push_back(&ticket);
  }
  const Got got = wait_for_turn(ticket, connection, patience);
  const std::lock_guard lock(mutex_);
  if (got == Got::place) return closed_ && !ticket.admitted ? Got::closing : Got::place;
  std::erase(queue_, &ticket);
  if (ticket.admitted) {  // in the same moment
    --taken_;
    admit();
  }
  return got;
}

Slots::Got Slots::wait_for_turn(Ticket& ticket, int connection, Duration patience) {
  const TimePoint deadline =
      real_clock().now() + std::min<Duration>(patience, std::chrono::hours(1));
  while (true) {
    std::array<pollfd, 2> waiting = {
        {{.fd = ticket.called.fd(), .events = POLLIN, .revents = 0},
         {.fd = connection, .events = POLLIN | POLLRDHUP, .revents = 0}}};
    const timespec left = until(deadline);
    const int ready = ::ppoll(waiting.data(), waiting.size(), &left, nullptr);
    if (ready < 0 && errno != EINTR) return Got::gone;
    if (ready == 0) return Got::late;
    if (ready < 0) continue;
    if (waiting[0].revents != 0) return Got::place;
    return Got::gone;
  }
}

void Slots::release() {
  const std::lock_guard lock(mutex_);
  --taken_;
  admit();
}

void Slots::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (Ticket* const ticket : queue_) ticket->called.set();
  queue_.clear();
}

Slots::Counts Slots::counts() const {
  const std::lock_guard lock(mutex_);
  return {.running = taken_, .waiting = queue_.size()};
}

}  // namespace cordon::app::pool
