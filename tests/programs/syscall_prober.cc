// Counts the system calls that can be reached: each number is called in a process of its own with
// all bits of all arguments set. EPERM, ENOSYS and death by SIGSYS mean that it cannot be reached;
// any other end means that it can. Prints "x86_64 N", "i386 N", "x32 N"; with the argument "list"
// the numbers, too. Meant to be run under a filter: some calls do harm when nothing stops them.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace {

constexpr long kNumbers = 600;
constexpr long kX32Bit = 0x4000'0000;
constexpr int kUnreachable = 7;

using Entry = long (*)(long number);

long by_syscall(long number) {
  long result = number;
  register long r10 asm("r10") = -1;
  register long r8 asm("r8") = -1;
  register long r9 asm("r9") = -1;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(-1L), "S"(-1L), "d"(-1L), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

long by_x32(long number) { return by_syscall(number | kX32Bit); }

long by_int80(long number) {
  long result = number;
  asm volatile(
      "lea -128(%%rsp), %%rsp\n"  // not into the red zone
      "push %%rbp\n"
      "mov $-1, %%rbp\n"
      "int $0x80\n"
      "pop %%rbp\n"
      "lea 128(%%rsp), %%rsp\n"
      : "+a"(result)
      : "b"(-1L), "c"(-1L), "d"(-1L), "S"(-1L), "D"(-1L)
      : "r8", "r9", "r10", "r11", "memory", "cc");
  return static_cast<int>(result);
}

[[noreturn]] void call_and_leave(Entry entry, long number) {
  const long result = entry(number);
  ::_exit(result == -EPERM || result == -ENOSYS ? kUnreachable : 0);
}

// Some calls wait for ever, some with every signal blocked: the parent keeps the time. SIGCHLD is
// blocked.
int status_of(pid_t child) {
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  const timespec patience{.tv_sec = 0, .tv_nsec = 300'000'000};
  int status = 0;
  for (;;) {
    if (::waitpid(child, &status, WNOHANG) == child) return status;
    if (::sigtimedwait(&ended, nullptr, &patience) == SIGCHLD) continue;
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return status;
  }
}

bool reachable(Entry entry, long number) {
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("fork");
    ::_exit(125);
  }
  if (child == 0) call_and_leave(entry, number);
  const int status = status_of(child);
  if (WIFEXITED(status)) return WEXITSTATUS(status) != kUnreachable;
  // A kernel without the 32-bit entry answers int $0x80 with SIGSEGV.
  if (entry == by_int80 && WTERMSIG(status) == SIGSEGV) return false;
  return WTERMSIG(status) != SIGSYS;
}

void count(const char* name, Entry entry, bool list) {
  int total = 0;
  for (long number = 0; number <= kNumbers; ++number) {
    if (!reachable(entry, number)) continue;
    ++total;
    if (list) std::fprintf(stderr, "%s %ld\n", name, number);
  }
  std::printf("%s %d\n", name, total);
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &ended, nullptr);
  const bool list = argc > 1 && std::strcmp(argv[1], "list") == 0;
  count("x86_64", by_syscall, list);
  std::fflush(stdout);
  count("i386", by_int80, list);
  std::fflush(stdout);
  count("x32", by_x32, list);
  return 0;
}
