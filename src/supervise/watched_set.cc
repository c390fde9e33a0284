#include "supervise/watched_set.h"

#include <sys/epoll.h>

#include <array>
#include <utility>

namespace cordon::supervise {

WatchedSet::WatchedSet() : set_(base::move_up(base::Fd(::epoll_create1(EPOLL_CLOEXEC)))) {}

std::uint64_t WatchedSet::add(int fd) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = ++last_id_;
  // The kernel tells of an end of file even if nobody asks: once, in this way.
  epoll_event nothing{.events = EPOLLONESHOT, .data = {.u64 = id}};
  if (::epoll_ctl(set_.get(), EPOLL_CTL_ADD, fd, &nothing) != 0) return 0;
  entries_[id].fd = fd;
  return id;
}

void WatchedSet::forget(std::uint64_t id) {
  Entry forgotten;  // somebody else's code: destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  (void)::epoll_ctl(set_.get(), EPOLL_CTL_DEL, found->second.fd, nullptr);
  forgotten = std::move(found->second);
  entries_.erase(found);
}

void WatchedSet::when_readable(std::uint64_t id, std::function<void()> ready) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  std::swap(found->second.readable, ready);
  arm(id, found->second);
}

void WatchedSet::when_writable(std::uint64_t id, std::function<void()> ready) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  std::swap(found->second.writable, ready);
  arm(id, found->second);
}

void WatchedSet::arm(std::uint64_t id, const Entry& entry) const {
  std::uint32_t events = EPOLLONESHOT;
  if (entry.readable) events |= EPOLLIN;
  if (entry.writable) events |= EPOLLOUT;
  epoll_event wanted{.events = events, .data = {.u64 = id}};
  (void)::epoll_ctl(set_.get(), EPOLL_CTL_MOD, entry.fd, &wanted);
}

WatchedSet::Entry WatchedSet::take_ready(std::uint64_t id, std::uint32_t events) {
  Entry ready;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return ready;
  Entry& entry = found->second;
  constexpr std::uint32_t kEnd = EPOLLERR | EPOLLHUP;
  if ((events & (EPOLLIN | kEnd)) != 0) ready.readable = std::exchange(entry.readable, nullptr);
  if ((events & (EPOLLOUT | kEnd)) != 0) ready.writable = std::exchange(entry.writable, nullptr);
  if (entry.readable || entry.writable) arm(id, entry);
  return ready;
}

void WatchedSet::call_ready() {
  std::array<epoll_event, 64> seen{};
  const int count = ::epoll_wait(set_.get(), seen.data(), static_cast<int>(seen.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = seen[static_cast<std::size_t>(i)];
    // One at a time: a callback may make others forget.
    const Entry ready = take_ready(event.data.u64, event.events);
    if (ready.readable) ready.readable();
    if (ready.writable) ready.writable();
  }
}

}  // namespace cordon::supervise
