// Descriptors and who wants to hear of them. One epoll set, which is itself a descriptor: readable
// when somebody is to be called.
//
// To ask, and to take that back, is one system call each and wakes nobody: most processes are
// waited for by the thread that has started them, and never need the loop's. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "base/fd.h"

namespace cordon::supervise {

class WatchedSet {
 public:
  WatchedSet();
  [[nodiscard]] int fd() const { return set_.get(); }  // -1: the kernel has none left

  // 0: the kernel will not watch it. The descriptor stays the caller's, and open until forget().
  [[nodiscard]] std::uint64_t add(int fd);
  // No callback begins after this.
  void forget(std::uint64_t id);
  // Calls back once, from call_ready(). At most one of each kind is pending.
  void when_readable(std::uint64_t id, std::function<void()> ready);
  void when_writable(std::uint64_t id, std::function<void()> ready);

  // Calls those whose descriptors are ready, without a lock held.
  void call_ready();

 private:
  struct Entry {
    int fd = -1;
    std::function<void()> readable{};
    std::function<void()> writable{};
  };

  void arm(std::uint64_t id, const Entry& entry) const;  // the lock is held
  [[nodiscard]] Entry take_ready(std::uint64_t id, std::uint32_t events);

  base::Fd set_;
  std::mutex mutex_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, Entry> entries_;
};

}  // namespace cordon::supervise
