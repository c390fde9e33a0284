#include "wake.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/errors.h"

namespace cordon::app {

Result<Wake> Wake::create() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return base::fail_os("pipe", errno, "cannot make a pipe");
  Wake wake;
  wake.read_end_ = base::Fd(ends[0]);
  wake.write_end_ = base::Fd(ends[1]);
  for (const int fd : ends) (void)::fcntl(fd, F_SETFD, FD_CLOEXEC);
  (void)::fcntl(ends[1], F_SETFL, O_NONBLOCK);  // set() may be called any number of times
  return wake;
}

void Wake::set() const {
  const char on = 1;
  (void)!::write(write_end_.get(), &on, 1);
}

}  // namespace cordon::app
