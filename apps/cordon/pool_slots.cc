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

// The next ones, as far as there are places.
void Slots::admit() {
  while (!closed_ && taken_ < places_ && !queue_.empty()) {
    Ticket* const next = queue_.front();
    queue_.pop_front();
    ++taken_;
    next->admitted = true;
    next->called.set();
  }
}

std::optional<Slots::Answer> Slots::answer_at_once(Duration patience) {
  const Counts others = counts_now();
  if (closed_) return Answer{.got = Got::closing, .others = others};
  if (taken_ < places_ && queue_.empty()) {
    ++taken_;
    return Answer{.got = Got::place, .others = others};
  }
  if (queue_.size() >= most_waiting_) return Answer{.got = Got::full, .others = others};
  const auto expected = pace_.expected(queue_.size(), places_);
  if (expected && *expected > patience) {
    return Answer{.got = Got::hopeless, .others = others, .expected = *expected};
  }
  return std::nullopt;
}

Slots::Answer Slots::acquire(int connection, Duration patience) {
  std::unique_lock lock(mutex_);
  if (auto answer = answer_at_once(patience)) return *answer;
  lock.unlock();
  auto called = Wake::create();
  if (!called) return {.got = Got::failed, .others = counts()};
  Ticket ticket{.called = *std::move(called)};
  lock.lock();
  if (auto answer = answer_at_once(patience)) return *answer;  // what has changed meanwhile
  queue_.push_back(&ticket);
  lock.unlock();
  const Got got = wait_for_turn(ticket, connection, patience);
  lock.lock();
  if (got == Got::place) {
    return {.got = ticket.admitted ? Got::place : Got::closing, .others = counts_now()};
  }
  std::erase(queue_, &ticket);
  if (ticket.admitted) {  // in the same moment
    --taken_;
    admit();
  }
  return {.got = got, .others = counts_now()};
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

void Slots::release(Duration held) {
  const std::lock_guard lock(mutex_);
  pace_.add(held);
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
  return counts_now();
}

}  // namespace cordon::app::pool
