#include "backend/posix/exit_signal.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace cordon::posix {

ExitSignal::ExitSignal(pid_t pid) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  reader_ = base::move_up(base::Fd(ends[0]));
  writer_ = base::move_up(base::Fd(ends[1]));
  // Not for the application's signal handlers.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  waiter_ = std::thread([this, pid] {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
    writer_.reset();  // end of file is readable
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ExitSignal::~ExitSignal() { join(); }

void ExitSignal::join() {
  if (waiter_.joinable()) waiter_.join();
}

}  // namespace cordon::posix
