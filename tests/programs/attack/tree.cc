// A tree of processes that does not want to end: tree MARK. The mark is for who counts them by
// their command lines.
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <csignal>

#include "attack.h"

namespace attack {
namespace {

int ready_end = -1;

void stay() {
  (void)!::write(ready_end, "x", 1);
  hang();
}

template <typename Act>
void start(Act act) {
  const pid_t child = ::fork();
  if (child < 0) untried("fork");
  if (child != 0) return;
  for (int signal = 1; signal < NSIG; ++signal) (void)::signal(signal, SIG_IGN);
  act();
  ::_exit(0);
}

void tree(Args /*args*/) {
  int ends[2];
  if (::pipe(ends) != 0) untried("pipe");
  ready_end = ends[1];
  constexpr int kStaying = 6;
  start(stay);
  start([] {
    ::setsid();
    stay();
  });
  start([] {  // a daemon
    ::setsid();
    if (::fork() == 0) stay();
  });
  start([] {
    (void)!::write(ready_end, "x", 1);
    ::raise(SIGSTOP);
    hang();
  });
  start([] {
    (void)::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    (void)!::write(ready_end, "x", 1);
    ::raise(SIGSTOP);
    hang();
  });
  start([] {
    ::setpgid(0, 0);
    ::prctl(PR_SET_NAME, "[kworker/0:0]", 0, 0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (::fork() == 0) stay();
    hang();
  });
  for (int i = 0; i < kStaying; ++i) {
    char byte = 0;
    if (::read(ends[0], &byte, 1) != 1) untried("read");
  }
  for (int signal = 1; signal < NSIG; ++signal) (void)::signal(signal, SIG_IGN);
  say("ready");
  ::raise(SIGSTOP);
  hang();
}

constexpr Entry kAll[] = {{"tree", tree, 1}};

}  // namespace

std::span<const Entry> tree_attacks() { return kAll; }

}  // namespace attack
