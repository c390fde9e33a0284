#include "wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/errors.h"

namespace cordon::app {

Result<Wake> Wake::create() {
  Wake wake;
  wake.event_ = base::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.event_) return base::fail_os("wake", errno, "making an event");
  return wake;
}

void Wake::set() const {
  const std::uint64_t on = 1;
  (void)!::write(event_.get(), &on, sizeof on);
}

}  // namespace cordon::app
