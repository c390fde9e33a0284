#include "backend/posix/background.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/errors.h"

namespace cordon::posix {
namespace {

constexpr const char* kStage = "background";

}  // namespace

Result<Forked> fork_to_background() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::fail_os(kStage, errno, "making a pipe");
  base::Fd read_end(ends[0]);
  base::Fd write_end(ends[1]);
  // The command is small and has one thread: this is the one place where fork is the right call.
  const pid_t pid = ::fork();
  if (pid < 0) return base::fail_os(kStage, errno, "going to the background");
  if (pid > 0) return Forked{.background = false, .pipe = std::move(read_end)};
  (void)::setsid();
  (void)!::chdir("/");  // so that no file system is kept from being unmounted
  return Forked{.background = true, .pipe = std::move(write_end)};
}

Result<void> release_streams() {
  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return base::fail_os(kStage, errno, "opening /dev/null");
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::dup2(null.get(), fd) < 0) return base::fail_os(kStage, errno, "leaving the streams");
  }
  return {};
}

}  // namespace cordon::posix
