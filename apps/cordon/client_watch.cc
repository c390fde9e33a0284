#include "client_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

namespace cordon::app {
namespace {

int to_milliseconds(Duration duration) {
  constexpr Duration kMost = std::chrono::hours(24);
  const auto count =
      std::chrono::ceil<std::chrono::milliseconds>(std::min(duration, kMost)).count();
  return static_cast<int>(count);
}

}  // namespace

ClientWatch::ClientWatch(RunControl& control, Duration grace, Wake stop)
    : control_(control),
      grace_(grace),
      stop_(std::move(stop)),
      // One that is gone already is no parent any more; whoever adopted us lives as long as we do.
      parent_(static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0))),
      thread_([this] { watch(); }) {}

ClientWatch::~ClientWatch() {
  stop_.set();
  thread_.join();
}

bool ClientWatch::wait_for_hang_up() const {
  // stdin is the program's to read: only its being closed is of interest here.
  std::array<pollfd, 3> waiting = {{{.fd = stop_.fd(), .events = POLLIN, .revents = 0},
                                    {.fd = STDIN_FILENO, .events = POLLRDHUP, .revents = 0},
                                    {.fd = parent_.get(), .events = POLLIN, .revents = 0}}};
  for (;;) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (waiting[0].revents != 0) return false;
    if (waiting[1].revents != 0 || waiting[2].revents != 0) return true;
  }
}

void ClientWatch::watch() {
  if (!wait_for_hang_up()) return;
  pollfd ended{.fd = stop_.fd(), .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = ::poll(&ended, 1, to_milliseconds(grace_));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) control_.cancel();
}

}  // namespace cordon::app
