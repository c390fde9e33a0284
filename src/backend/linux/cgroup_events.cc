#include "backend/linux/cgroup_events.h"

#include <sys/epoll.h>
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

void CgroupEvents::acknowledge() {
  for (const auto& file : files_) look_at(file.get());
  for (const auto& event : eventfds_) {
    std::uint64_t count = 0;
    (void)!::read(event.get(), &count, sizeof count);
  }
}

}  // namespace cordon::linux_backend
