#include "backend/linux/user_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <utility>

#include "base/errors.h"

// The C library's clone() under the name that sanitizers leave alone: see posix/spawn.cc.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace cordon::linux_backend {
namespace {

using base::fail_os;

// On the caller's memory, in the new namespace: nothing is done there.
int child(void* /*argument*/) {
  for (;;) ::syscall(SYS_exit_group, 0);
}

// A process in a new user namespace, which has ended already: until it is reaped, it still names
// its namespace. It never had a chance to outlive us, and nobody has to wake it.
pid_t make_ended_process() {
  constexpr std::size_t kStack = 16 * 1024;
  alignas(16) char stack[kStack];
  // No handler of the caller may run in the child while it shares our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // No SIGCHLD, and only a wait for clones sees its end. CLONE_FILES: nothing is copied.
  const pid_t pid = ::__clone(child, stack + kStack,
                              CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWUSER, nullptr);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

Result<void> write_map(pid_t pid, const char* name, std::uint32_t inside, std::uint32_t outside) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const std::string line = std::to_string(inside) + " " + std::to_string(outside) + " 1";
  const base::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), line.data(), line.size()) < 0) {
    return fail_os("user namespace", errno, "writing \"" + line + "\" to " + path);
  }
  return {};
}

Result<base::Fd> map_and_open(pid_t pid, const User& inside, const User& outside) {
  if (auto r = write_map(pid, "uid_map", inside.uid, outside.uid); !r) {
    return std::unexpected(std::move(r.error()));
  }
  if (auto r = write_map(pid, "gid_map", inside.gid, outside.gid); !r) {
    return std::unexpected(std::move(r.error()));
  }
  const std::string path = "/proc/" + std::to_string(pid) + "/ns/user";
  base::Fd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return fail_os("user namespace", errno, "opening " + path);
  return base::move_up(std::move(opened));
}

}  // namespace

Result<base::Fd> make_user_namespace(const User& inside, const User& outside) {
  const pid_t pid = make_ended_process();
  if (pid < 0) {
    return fail_os("user namespace", errno, "making a user namespace for the program's ids");
  }
  auto made = map_and_open(pid, inside, outside);
  while (::waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  return made;
}

}  // namespace cordon::linux_backend
