// The spawner: a tiny program without a C library that makes sandboxes for a supervisor.
//
// It receives a script and descriptors, clones a process that carries the script out, forgets both,
// and waits for the next. Made for being forked: a few pages, no secrets, nothing inherited. It
// ends with its supervisor.
#include <asm/unistd.h>
#include <linux/sched.h>

#include "backend/linux/spawner/interpreter.h"
#include "backend/linux/spawner/receive.h"
#include "backend/linux/spawner/script.h"
#include "backend/linux/spawner/syscalls.h"

// The compiler may ask for these even where none is written.
extern "C" void* memset(void* to, int value, unsigned long size) {
  auto* bytes = static_cast<volatile char*>(to);
  for (unsigned long i = 0; i < size; ++i) bytes[i] = static_cast<char>(value);
  return to;
}
extern "C" void* memcpy(void* to, const void* from, unsigned long size) {
  auto* target = static_cast<volatile char*>(to);
  const auto* source = static_cast<const volatile char*>(from);
  for (unsigned long i = 0; i < size; ++i) target[i] = source[i];
  return to;
}

namespace cordon::linux_backend::spawner {
namespace {

[[noreturn]] void end(int status) {
  for (;;) call(__NR_exit_group, static_cast<std::uint64_t>(status));
}

void prepare() {
  constexpr std::uint64_t kSetDeathSignal = 1;
  constexpr std::uint64_t kSetDumpable = 4;
  constexpr std::uint64_t kKill = 9;
  constexpr std::uint64_t kReadWrite = 3;
  constexpr std::uint64_t kPrivateAnonymousAtPlace = 0x02 | 0x20 | 0x100000;
  call(__NR_prctl, kSetDeathSignal, kKill);
  call(__NR_prctl, kSetDumpable, 0);
  call(__NR_close, 0);
  call(__NR_close, 2);
  // 0 and 2 stay taken, so that received descriptors begin at kFirstFd.
  call(__NR_dup2, kControlFd, 0);
  call(__NR_dup2, kControlFd, 2);
  const long arena = call(__NR_mmap, kArena, kArenaSize, kReadWrite, kPrivateAnonymousAtPlace,
                          ~std::uint64_t{0}, 0);
  if (arena != static_cast<long>(kArena)) end(1);
}

void start() {
  const auto& script = at<const Script>(kArena);
  clone_args args{};
  args.flags = script.clone_flags;
  if (script.cgroup_fd >= 0) args.cgroup = static_cast<std::uint64_t>(script.cgroup_fd);
  const long pid = call(__NR_clone3, address(&args), sizeof args);
  if (pid == 0) {
    call(__NR_close_range, 0, 2, 0);
    run_section(Role::setup);
  }
  // A supervisor that no longer listens has given up on this one.
  (void)send_report({ReportKind::started, Role::setup, {}, 0, 0, pid});
}

}  // namespace
}  // namespace cordon::linux_backend::spawner

extern "C" [[noreturn, gnu::used]] void spawner_main() {
  using namespace cordon::linux_backend::spawner;  // NOLINT(google-build-using-namespace)
  prepare();
  for (;;) {
    if (!receive_script(kControlFd, kCloseOnExec)) end(0);  // the supervisor is done
    start();
    forget_script();
  }
}

asm(".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  and $-16, %rsp\n"
    "  call spawner_main\n");
