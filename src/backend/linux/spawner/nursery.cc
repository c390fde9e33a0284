#include "backend/linux/spawner/nursery.h"

#include <asm/unistd.h>

#include "backend/linux/spawner/interpreter.h"
#include "backend/linux/spawner/receive.h"
#include "backend/linux/spawner/script.h"
#include "backend/linux/spawner/syscalls.h"

namespace cordon::linux_backend::spawner {
namespace {

constexpr std::uint64_t kSetDumpable = 4;
constexpr std::uint64_t kCloneParent = 0x8000;

[[noreturn]] void end(int status) {
  for (;;) call(__NR_exit_group, static_cast<std::uint64_t>(status));
}

// The control socket takes the places of the streams, so that what is received begins at kFirstFd.
void settle() {
  for (std::uint64_t fd = 0; fd < kFirstFd; ++fd) {
    if (call(__NR_dup2, kLetterFd, fd) < 0) end(1);
  }
  forget_script();
}

// By clone, not clone3, of which a filter does not see the flags.
void start() {
  const long pid = call(__NR_clone, kCloneParent);
  if (pid == 0) {
    if (call(__NR_close_range, 0, kFirstFd - 1, 0) != 0) end(1);
    run_section(Role::program);
  }
  (void)send_report({ReportKind::started, Role::program, {}, 0, 0, pid});
}

}  // namespace

void run_nursery() {
  settle();
  for (;;) {
    if (!receive_script(kControlFd, kCloseOnExec)) end(0);
    // From before the first program inside it can be looked at no more, nor what it makes.
    if (call(__NR_prctl, kSetDumpable, 0) != 0) end(1);
    start();
    forget_script();
  }
}

}  // namespace cordon::linux_backend::spawner
