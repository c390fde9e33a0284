#include "base/fd.h"

#include <fcntl.h>
#include <unistd.h>

namespace cordon::base {

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Fd move_up(Fd fd) {
  constexpr int kFloor = 64;
  if (!fd || fd.get() >= kFloor) return fd;
  Fd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFloor));
  return moved ? std::move(moved) : std::move(fd);
}

}  // namespace cordon::base
