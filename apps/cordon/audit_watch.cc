#include "audit_watch.h"

#include <poll.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

namespace cordon::app {
namespace {

constexpr int kPauseMs = 250;  // where changes are not told

}  // namespace

AuditWatch::AuditWatch(int directory) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  signals_.reset(::signalfd(-1, &ends, SFD_CLOEXEC));
  changes_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const std::string path = "/proc/self/fd/" + std::to_string(directory);
  if (changes_ && ::inotify_add_watch(changes_.get(), path.c_str(), IN_MODIFY | IN_CREATE) < 0) {
    changes_.reset();
  }
}

bool AuditWatch::wait() const {
  // Without events asked for, an output that is gone is told all the same.
  std::array<pollfd, 3> waiting = {pollfd{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = STDOUT_FILENO, .events = 0, .revents = 0},
                                   pollfd{.fd = changes_.get(), .events = POLLIN, .revents = 0}};
  const int ready = ::poll(waiting.data(), waiting.size(), changes_ ? -1 : kPauseMs);
  if (ready < 0) return errno == EINTR;
  if (waiting[0].revents != 0 || (waiting[1].revents & (POLLERR | POLLHUP)) != 0) return false;
  std::array<char, 4096> told{};
  while (changes_ && ::read(changes_.get(), told.data(), told.size()) > 0) {
  }
  return true;
}

}  // namespace cordon::app
