#include "backend/linux/probe_trial.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>

// The C library's clone() under the name that sanitizers leave alone: see posix/spawn.cc.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace cordon::linux_backend {
namespace {

// Plain data for the child, made before it exists.
struct ChildTask {
  TrialFlags flags{};
  char uid_map[64] = {};
  char gid_map[64] = {};
  volatile int map = 0;
  volatile int mount = 0;
  volatile int proc = 0;
  volatile int network = 0;
  volatile int capability = 0;
};

// Below: in the child, on the caller's memory. Raw system calls only. No change of credentials:
// that would make the shared memory undumpable, for the caller too.

int error_of(long result) { return result < 0 ? errno : 0; }

int write_to(const char* path, const char* text) {
  std::size_t size = 0;
  while (text[size] != '\0') ++size;
  const long fd = ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = error_of(::syscall(SYS_write, fd, text, size));
  ::syscall(SYS_close, fd);
  return error;
}

int map_self(const ChildTask& task) {
  if (const int error = write_to("/proc/self/setgroups", "deny"); error != 0) return error;
  if (const int error = write_to("/proc/self/uid_map", task.uid_map); error != 0) return error;
  return write_to("/proc/self/gid_map", task.gid_map);
}

int child(void* argument) {
  ChildTask& task = *static_cast<ChildTask*>(argument);
  if (task.flags.map_self) task.map = map_self(task);
  if (task.flags.mount) {
    task.mount =
        error_of(::syscall(SYS_mount, nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
    if (task.mount == 0 && task.flags.pid) {
      task.proc = error_of(
          ::syscall(SYS_mount, "proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr));
    }
  }
  if (task.flags.capability) task.capability = error_of(::syscall(SYS_unshare, CLONE_NEWUTS));
  if (task.flags.network) task.network = error_of(::syscall(SYS_unshare, CLONE_NEWNET));
  for (;;) ::syscall(SYS_exit_group, 0);
}

// An ordinary user's process may write its own maps only while it is dumpable. A caller that holds
// secrets is not; what the trial's child needs is the memory's, so the caller's for that moment.
class Dumpable {
 public:
  Dumpable() : was_(::prctl(PR_GET_DUMPABLE)) {
    if (was_ == 0) (void)::prctl(PR_SET_DUMPABLE, 1);
  }
  ~Dumpable() {
    if (was_ == 0) (void)::prctl(PR_SET_DUMPABLE, 0);
  }
  Dumpable(const Dumpable&) = delete;
  Dumpable& operator=(const Dumpable&) = delete;

 private:
  int was_;
};

}  // namespace

NamespaceTrial try_namespaces(const TrialFlags& flags) {
  const Dumpable meanwhile;
  ChildTask task;
  task.flags = flags;
  (void)std::snprintf(task.uid_map, sizeof task.uid_map, "%u %u 1", ::geteuid(), ::geteuid());
  (void)std::snprintf(task.gid_map, sizeof task.gid_map, "%u %u 1", ::getegid(), ::getegid());

  constexpr std::size_t kStack = 32 * 1024;
  alignas(16) char stack[kStack];
  // The end of this child is nobody's business: no SIGCHLD, and only a wait for clones sees it.
  // CLONE_FILES: a table of thousands of descriptors need not be copied.
  const int kinds =
      CLONE_NEWUSER | (flags.mount ? CLONE_NEWNS : 0) | (flags.pid ? CLONE_NEWPID : 0);

  // No handler of the caller may run in the child while it shares our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid =
      ::__clone(child, stack + kStack, CLONE_VM | CLONE_VFORK | CLONE_FILES | kinds, &task);
  const int clone_error = pid < 0 ? errno : 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return {.clone = clone_error};

  while (::waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  return {
      .map = task.map,
      .mount = task.mount,
      .proc = task.proc,
      .network = task.network,
      .capability = task.capability,
  };
}

}  // namespace cordon::linux_backend
