// The bounded buffer between a process's output and its readers.
//
// Numbers and stamps events, counts what is dropped. Not thread-safe: its owner locks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cordon/events.h"

namespace cordon::supervise {

class EventQueue {
 public:
  explicit EventQueue(std::size_t capacity) : capacity_(capacity) {}

  // Adds the output events that `add` appends to the vector it is given (data, partial, invalid
  // set).
  template <typename Add>
  void append(Event::Kind kind, Duration at, Add&& add) {
    if (empty()) {
      events_.clear();
      head_ = 0;
    }
    const std::size_t before = events_.size();
    std::forward<Add>(add)(events_);
    stamp(before, kind, at);
  }
  // The same for events at hand; leaves `frames` empty.
  void push(Event::Kind kind, Duration at, std::vector<Event>& frames);
  // The last one.
  void push_exit(Duration at, std::shared_ptr<const Outcome> outcome);
  // Drops the oldest output events until the rest fits the capacity. Never drops the exit event.
  void drop_to_fit();
  // Moves everything into the empty `batch`.
  void take(std::vector<Event>& batch);
  // Puts events that were taken back where they were.
  void give_back(std::vector<Event> unread);

  [[nodiscard]] bool empty() const { return head_ == events_.size(); }
  // What is kept counts with its bookkeeping, so that many tiny events are bounded too.
  [[nodiscard]] bool full() const { return cost_ >= capacity_; }
  [[nodiscard]] std::uint64_t dropped_bytes() const { return dropped_; }
  [[nodiscard]] bool exit_pushed() const { return exit_pushed_; }

  static std::size_t cost_of(const Event& event) { return sizeof(Event) + event.data.size(); }

 private:
  void stamp(std::size_t from, Event::Kind kind, Duration at);

  std::size_t capacity_;
  std::vector<Event> events_;  // from head_ on
  std::size_t head_ = 0;
  std::size_t cost_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t dropped_ = 0;
  bool exit_pushed_ = false;
};

}  // namespace cordon::supervise
