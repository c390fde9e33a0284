#include "backend/memory/real_fd.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/errors.h"
#include "base/write.h"

namespace cordon::memory {
namespace {

// The caller's descriptor may be non-blocking; a scripted program waits all the same.
void wait_for(int fd, short events) {
  pollfd wanted{.fd = fd, .events = events, .revents = 0};
  (void)::poll(&wanted, 1, -1);
}

}  // namespace

Result<std::shared_ptr<const base::Fd>> borrow(int fd, std::string_view stream, bool inherited) {
  constexpr int kAboveStandard = 3;
  base::Fd own(::fcntl(fd, F_DUPFD_CLOEXEC, kAboveStandard));
  if (own) return std::make_shared<const base::Fd>(std::move(own));
  const int error = errno;
  if (error == EBADF && inherited) return nullptr;
  return base::fail_os("stdio", error,
                       "using descriptor " + std::to_string(fd) + " as the program's " +
                           std::string(stream) + " (give an open one)");
}

std::string read_some(int fd) {
  std::string block(64 * 1024, '\0');
  for (;;) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got >= 0) {
      block.resize(static_cast<std::size_t>(got));
      return block;
    }
    if (errno == EAGAIN) {
      wait_for(fd, POLLIN);
    } else if (errno != EINTR) {
      return {};
    }
  }
}

int write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = base::write_without_sigpipe(fd, data);
    if (written >= 0) {
      data.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      wait_for(fd, POLLOUT);
    } else {
      return errno;
    }
  }
  return 0;
}

}  // namespace cordon::memory
