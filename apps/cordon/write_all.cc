#include "write_all.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string>

#include "base/errors.h"
#include "concat.h"

namespace cordon::app {
namespace {

// What a pipe that poll() calls writable takes without blocking.
constexpr std::size_t kNeverBlocks = PIPE_BUF;

std::string name_of(int fd) {
  if (fd == STDOUT_FILENO) return "stdout";
  if (fd == STDERR_FILENO) return "stderr";
  return concat("descriptor ", std::to_string(fd));
}

std::unexpected<Error> failure(int fd, int os_error) {
  return base::fail_os("write", os_error, concat("cannot write to ", name_of(fd)));
}

// One write() of at most `most` bytes; 0 when it is worth trying again.
Result<std::size_t> write_some(int fd, std::string_view data, std::size_t most) {
  const ssize_t written = ::write(fd, data.data(), std::min(data.size(), most));
  if (written >= 0) return static_cast<std::size_t>(written);
  if (errno == EINTR || errno == EAGAIN) return 0;
  return failure(fd, errno);
}

}  // namespace

Result<void> write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const auto written = write_some(fd, data, data.size());
    if (!written) return std::unexpected(written.error());
    if (*written == 0) {  // somebody made it non-blocking
      pollfd waiting{.fd = fd, .events = POLLOUT, .revents = 0};
      (void)::poll(&waiting, 1, -1);
    }
    data.remove_prefix(*written);
  }
  return {};
}

Result<void> write_all_until(int fd, std::string_view data, int stop) {
  while (!data.empty()) {
    std::array<pollfd, 2> waiting = {{{.fd = fd, .events = POLLOUT, .revents = 0},
                                      {.fd = stop, .events = POLLIN, .revents = 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return failure(fd, errno);
    }
    if (waiting[0].revents == 0) {
      return base::fail(ErrorCode::timed_out, "write", "told to stop writing");
    }
    const auto written = write_some(fd, data, kNeverBlocks);
    if (!written) return std::unexpected(written.error());
    data.remove_prefix(*written);
  }
  return {};
}

}  // namespace cordon::app
