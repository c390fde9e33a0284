#include "base/write.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace cordon::base {

ssize_t write_without_sigpipe(int fd, std::string_view data) {
  constexpr int kNoSignal = 0x100;     // RWF_NOSIGNAL, of Linux 6.18
  constexpr off64_t kAtPosition = -1;  // as write() does
  const iovec all{.iov_base = const_cast<char*>(data.data()), .iov_len = data.size()};
  const ssize_t written = ::pwritev2(fd, &all, 1, kAtPosition, kNoSignal);
  if (written >= 0 || errno == EAGAIN || errno == EPIPE) return written;
  return write_with_sigpipe_blocked(fd, data);
}

// SIGPIPE of a pipe goes to the writing thread: block it there, write, take back what came.
ssize_t write_with_sigpipe_blocked(int fd, std::string_view data) {
  sigset_t pipe_signal;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;

  ssize_t written = 0;
  do {
    written = ::write(fd, data.data(), data.size());
  } while (written < 0 && errno == EINTR);
  const int error = errno;

  if (written < 0 && error == EPIPE && !was_pending) {
    const timespec at_once{};
    while (sigtimedwait(&pipe_signal, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace cordon::base
