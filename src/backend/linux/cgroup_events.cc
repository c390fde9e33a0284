#include "backend/linux/cgroup_events.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <utility>

namespace cordon::linux_backend {
namespace {

// A read is what tells the kernel that the file's present state is known. One from the start: it
// is short.
void look_at(int file) {
  std::array<char, 512> text;
  (void)!::pread(file, text.data(), text.size(), 0);
}

}  // namespace

bool CgroupEvents::add(int fd, unsigned events) {
  if (!epoll_) epoll_ = base::move_up(base::Fd(::epoll_create1(EPOLL_CLOEXEC)));
  epoll_event event{.events = events, .data = {.fd = fd}};
  return epoll_ && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

bool CgroupEvents::watch_file(base::Fd file) {
  if (!file) return false;
  file = base::move_up(std::move(file));
  // A file that was never read counts as changed.
  look_at(file.get());
  if (!add(file.get(), EPOLLPRI)) return false;
  files_.push_back(std::move(file));
  return true;
}

bool CgroupEvents::watch_eventfd(base::Fd event) {
  if (!event) return false;
  event = base::move_up(std::move(event));
  if (!add(event.get(), EPOLLIN)) return false;
  eventfds_.push_back(std::move(event));
  return true;
}

bool CgroupEvents::watch_clock() {
  constexpr long kPeriod = 20'000'000;  // ns: a fork bomb has filled its limit by then
  base::Fd clock(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec often{.it_interval = {0, kPeriod}, .it_value = {0, kPeriod}};
  if (!clock || ::timerfd_settime(clock.get(), 0, &often, nullptr) != 0) return false;
  clock = base::move_up(std::move(clock));
  if (!add(clock.get(), EPOLLIN)) return false;
  clock_ = std::move(clock);
  return true;
}

bool CgroupEvents::acknowledge() {
  std::array<epoll_event, 4> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), ready.size(), 0);
  bool happened = false;
  for (int i = 0; i < count; ++i) happened = happened || ready[i].data.fd != clock_.get();
  std::uint64_t ticks = 0;
  if (clock_) (void)!::read(clock_.get(), &ticks, sizeof ticks);
  for (const auto& file : files_) look_at(file.get());
  for (const auto& event : eventfds_) {
    std::uint64_t counted = 0;
    (void)!::read(event.get(), &counted, sizeof counted);
  }
  return happened;
}

}  // namespace cordon::linux_backend
