#include "backend/posix/spawn.h"

#include <sched.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#ifndef CLONE_PIDFD
#error "needs the kernel headers of Linux 5.2"
#endif

// The C library's clone() under its other name. ThreadSanitizer replaces `clone` by one that takes
// every call for a fork() and then forgets which thread it is in.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace cordon::posix {
namespace {

int run_child(void* plan) { child_main(*static_cast<ChildPlan*>(plan)); }

}  // namespace

Spawned spawn(ChildPlan& plan) {
  plan.failed_step = Step::none;

  // The child runs on a piece of this thread's stack: this thread is stopped until it execs.
  constexpr std::size_t kStack = 32 * 1024;
  alignas(16) char stack[kStack];

  // No handler of the caller may run in the child while it shares our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int pidfd = -1;
  // CLONE_FILES: the child copies only the descriptors it keeps, not a table of thousands.
  const pid_t pid =
      ::__clone(run_child, stack + kStack,
                CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PIDFD | SIGCHLD, &plan, &pidfd);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);

  Spawned spawned{.pid = pid, .pidfd = base::move_up(base::Fd(pidfd))};
  if (pid > 0 && plan.failed_step != Step::none) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  errno = error;
  return spawned;
}

}  // namespace cordon::posix
