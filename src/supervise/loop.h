// The one background thread of a Manager: it watches descriptors and deadlines of all processes.
//
// Thread-safe. Callbacks run on the loop's thread, with no lock of the loop held. Built on
// Boost.Asio, which stays inside loop.cc.
#pragma once

#include <functional>
#include <memory>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "supervise/watched_set.h"

namespace cordon::supervise {

// Something with a deadline.
class Wakeable {
 public:
  virtual ~Wakeable() = default;
  virtual void on_wake() = 0;
};

class Loop {
 public:
  // Error: resource_exhausted (no descriptors or threads left).
  [[nodiscard]] static Result<std::unique_ptr<Loop>> make();
  // Stops the thread; callbacks that have not begun are dropped.
  ~Loop();

  // Calls `target->on_wake()` at `when`. A target has one deadline at most: a new one replaces the
  // old. Dead targets are forgotten.
  void wake_at(const std::shared_ptr<Wakeable>& target, TimePoint when);
  void forget(const Wakeable* target);

  // Readiness of one descriptor, which it does not own. Not thread-safe: its owner locks.
  class Watch {
   public:
    Watch(Loop& loop, int fd);
    ~Watch();  // withdraws what is pending; those callbacks do not run or do nothing
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    // False: the kernel would not watch the descriptor (not open, or fs.epoll.max_user_watches).
    // Then no callback ever comes.
    [[nodiscard]] bool watching() const { return id_ != 0; }
    // Calls `ready` once. At most one of each kind is pending.
    void when_readable(std::function<void()> ready);
    void when_writable(std::function<void()> ready);

   private:
    WatchedSet& watched_;
    std::uint64_t id_;  // 0: none
  };

 private:
  Loop();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cordon::supervise
