#include "sandbox_attend.h"

#include <unistd.h>

#include <csignal>

#include "terminal.h"

namespace cordon::app::sandbox {

bool interactive() {
  return is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && is_terminal(STDERR_FILENO);
}

void let_hangup_detach() {
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  pthread_sigmask(SIG_UNBLOCK, &hangup, nullptr);
}

}  // namespace cordon::app::sandbox
