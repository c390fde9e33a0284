#include "service_signals.h"

#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/errors.h"

namespace cordon::app::service {

Result<base::Fd> take_signals(const char* stage) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  base::Fd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return base::fail_os(stage, errno, "waiting for signals");
  return base::move_up(std::move(fd));
}

}  // namespace cordon::app::service
