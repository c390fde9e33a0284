#include "write_all.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <limits>
#include <string>
#include <utility>

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

// As much as is taken at once; 0: nothing, or it cannot be told without waiting for it. The
// descriptor may be somebody else's, too, so it is not for us to make it non-blocking.
Result<std::size_t> write_at_once(int fd, std::string_view data) {
  const iovec all{.iov_base = const_cast<char*>(data.data()), .iov_len = data.size()};
  constexpr off64_t kAtPosition = -1;
  const ssize_t written = ::pwritev2(fd, &all, 1, kAtPosition, RWF_NOWAIT);
  if (written >= 0) return static_cast<std::size_t>(written);
  if (errno == EPIPE) return failure(fd, errno);
  return 0;  // full; or of a kind, or a kernel, that knows no such writes
}

// What may be written without being held up to something that poll() calls writable.
std::size_t most_at_once(int fd) {
  struct stat file{};
  const bool regular = ::fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
  return regular ? std::numeric_limits<std::size_t>::max() : kNeverBlocks;
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
  bool asked = false;  // whether there is room, since something was written
  while (!data.empty()) {
    const auto at_once = write_at_once(fd, data);
    if (!at_once) return std::unexpected(at_once.error());
    if (*at_once > 0) {
      data.remove_prefix(*at_once);
      asked = false;
      continue;
    }
    if (std::exchange(asked, false)) {
      const auto written = write_some(fd, data, most_at_once(fd));
      if (!written) return std::unexpected(written.error());
      data.remove_prefix(*written);
      continue;
    }
    std::array<pollfd, 2> waiting = {{{.fd = fd, .events = POLLOUT, .revents = 0},
                                      {.fd = stop, .events = POLLIN, .revents = 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return failure(fd, errno);
    }
    if (waiting[0].revents == 0) {
      return base::fail(ErrorCode::timed_out, "write", "told to stop writing");
    }
    asked = true;
  }
  return {};
}

}  // namespace cordon::app
