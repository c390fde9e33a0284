#include "backend/linux/mount_watch.h"

#include <fcntl.h>
#include <poll.h>

namespace cordon::linux_backend {

MountWatch::MountWatch()
    : file_(base::move_up(base::Fd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)))) {}

bool MountWatch::changed() const {
  pollfd changes{.fd = file_.get(), .events = POLLPRI, .revents = 0};
  return !file_ || ::poll(&changes, 1, 0) != 0;
}

}  // namespace cordon::linux_backend
