#include "secrets/read_secret.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "cordon/secret.h"

namespace cordon::secrets {
namespace {

// Somebody may have made it non-blocking.
void wait_readable(int fd) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  (void)::poll(&waiting, 1, -1);
}

}  // namespace

Result<base::LockedBytes> read_secret(int fd, const std::function<Result<void>()>& ready) {
  constexpr std::size_t kRoom = kMostSecretBytes + 2;  // a newline, and one byte too many
  auto bytes = base::LockedBytes::make(kRoom);
  if (!bytes) return bytes;
  std::size_t size = 0;
  while (size < kRoom) {
    if (ready) {
      if (auto go_on = ready(); !go_on) return std::unexpected(std::move(go_on.error()));
    }
    const auto room = bytes->writable().subspan(size);
    const ssize_t n = ::read(fd, room.data(), room.size());
    if (n == 0) break;
    if (n > 0) {
      size += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      wait_readable(fd);
    } else if (errno != EINTR) {
      return base::fail_os("secret", errno, "cannot be read");
    }
  }
  if (size > 0 && bytes->view()[size - 1] == '\n') --size;
  if (size > kMostSecretBytes) {
    return base::fail(ErrorCode::invalid_argument, "secret",
                      "has more than " + std::to_string(kMostSecretBytes) +
                          " bytes: deliver a key instead, and what it opens as a file");
  }
  bytes->shrink(size);
  return bytes;
}

}  // namespace cordon::secrets
