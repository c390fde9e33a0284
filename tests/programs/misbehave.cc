// Programs that try to get away: trees that do not want to end, and bombs.
//
//   misbehave say PATH         makes the file PATH, and writes "ran"
//             crowd N SIZE     N children that each fill SIZE bytes; writes "ready" when all have
//             spinners N       N children that nobody waits for use processor time
//             fork-bomb | memory-bomb
//             shared-bomb [hide]  fills shared memory, which no rlimit counts; perhaps not dumpable
//             stubborn [MARK]  a tree of members that a plain kill does not end; writes "ready"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

[[noreturn]] void hang() {
  for (;;) ::pause();
}

void say(std::string_view text) { (void)!::write(1, text.data(), text.size()); }

bool fill(std::size_t size, int kind = MAP_PRIVATE) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  std::memset(memory, 1, size);
  return true;
}

int crowd(unsigned long children, std::size_t size) {
  int ready[2];
  if (::pipe(ready) != 0) return 1;
  for (unsigned long i = 0; i < children; ++i) {
    const pid_t child = ::fork();
    if (child < 0) return 2;
    if (child > 0) continue;
    if (!fill(size)) ::_exit(3);
    (void)!::write(ready[1], "", 1);
    hang();
  }
  ::close(ready[1]);
  char byte = 0;
  for (unsigned long i = 0; i < children; ++i) {
    if (::read(ready[0], &byte, 1) != 1) return 3;
  }
  say("ready\n");
  hang();
}

[[noreturn]] void spin() {
  volatile unsigned long i = 0;
  for (;;) i = i + 1;
}

template <typename Work>
void member(Work work) {
  if (::fork() == 0) {
    ::signal(SIGTERM, SIG_IGN);
    work();
    hang();
  }
}

int stubborn() {
  ::signal(SIGTERM, SIG_IGN);
  member([] { ::setsid(); });
  member([] {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::setsid();
  });
  member([] { ::raise(SIGSTOP); });
  member([] {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
  });
  member([] {
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGQUIT, SIG_IGN);
  });
  say("ready\n");
  hang();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return i < argc ? std::strtoul(argv[i], nullptr, 10) : 0UL; };
  if (what == "say") {
    const int file = ::open(argv[2], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    say("ran\n");
    return file >= 0 ? 0 : 1;
  }
  if (what == "crowd") return crowd(number(2), number(3));
  if (what == "spinners") {
    ::signal(SIGCHLD, SIG_IGN);
    for (unsigned long i = 0; i < number(2); ++i) {
      if (::fork() == 0) spin();
    }
    hang();
  }
  if (what == "fork-bomb") {
    for (;;) (void)!::fork();
  }
  if (what == "memory-bomb") {
    while (fill(std::size_t{4} << 20)) {
    }
    return 3;
  }
  if (what == "shared-bomb") {
    if (argc > 2) ::prctl(PR_SET_DUMPABLE, 0);
    while (fill(std::size_t{1} << 20, MAP_SHARED)) {
    }
    return 3;
  }
  if (what == "stubborn") return stubborn();
  return 98;
}
