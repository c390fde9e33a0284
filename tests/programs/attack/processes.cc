// Other processes, and what the caller has open.
#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "attack.h"

namespace attack {
namespace {

std::string content(const std::string& path) {
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char block[4096];
  for (ssize_t n = 0; (n = ::read(fd, block, sizeof block)) > 0;) {
    text.append(block, static_cast<std::size_t>(n));
  }
  ::close(fd);
  return text;
}

// Looks for a text in every process. It is told in two halves, so as not to find itself.
void find_process(Args args) {
  const std::string wanted = std::string(args[0]) + args[1];
  DIR* const folder = ::opendir("/proc");
  if (folder == nullptr) stopped("opendir /proc");
  while (const dirent* const entry = ::readdir(folder)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    const std::string process = std::string("/proc/") + entry->d_name;
    for (const char* const part : {"/cmdline", "/environ", "/comm"}) {
      if (content(process + part).find(wanted) != std::string::npos) reached(process + part);
    }
  }
  stopped("no process has it", ESRCH);
}

void send_signal(Args args) { judge("kill", ::kill(std::atoi(args[0]), 0)); }

void signal_by_pidfd(Args args) {
  const long fd = ::syscall(SYS_pidfd_open, std::atoi(args[0]), 0);
  if (fd < 0) stopped("pidfd_open");
  judge("pidfd_send_signal", ::syscall(SYS_pidfd_send_signal, fd, 0, nullptr, 0));
}

pid_t sibling() {
  const pid_t child = ::fork();
  if (child < 0) untried("fork");
  if (child == 0) hang();
  return child;
}

[[noreturn]] void finish(pid_t child, std::string_view what, long result) {
  const int error = errno;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  errno = error;
  judge(what, result);
}

void trace(Args args) {
  const pid_t pid = std::atoi(args[0]);
  const long result = ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr);
  judge("ptrace", result);  // the end of this process lets go of it
}

void trace_sibling(Args /*args*/) {
  const pid_t child = sibling();
  finish(child, "ptrace", ::ptrace(PTRACE_ATTACH, child, nullptr, nullptr));
}

void trace_me(Args /*args*/) { judge("ptrace", ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }

int remembered = 42;

long read_memory_of(pid_t pid) {
  int copy = 0;
  const iovec here{.iov_base = &copy, .iov_len = sizeof copy};
  const iovec there{.iov_base = &remembered, .iov_len = sizeof remembered};
  return ::process_vm_readv(pid, &here, 1, &there, 1, 0);
}

void read_sibling(Args /*args*/) {
  const pid_t child = sibling();
  finish(child, "process_vm_readv", read_memory_of(child));
}

// Not where something is, but whether one may.
void read_memory(Args args) {
  if (read_memory_of(std::atoi(args[0])) < 0 && errno != EFAULT) stopped("process_vm_readv");
  reached("process_vm_readv");
}

void take_descriptor(Args /*args*/) {
  const pid_t child = sibling();
  const long fd = ::syscall(SYS_pidfd_open, child, 0);
  if (fd < 0) untried("pidfd_open");
  finish(child, "pidfd_getfd", ::syscall(SYS_pidfd_getfd, fd, 1, 0));
}

void descriptors(Args /*args*/) {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) untried("opendir");
  while (const dirent* const entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > 2 && fd != ::dirfd(folder)) reached(entry->d_name);
  }
  stopped("none but 0, 1 and 2", EBADF);
}

// Types "x" into the terminal that stdin is, with other bits above the kernel's 32.
void type_into_terminal(Args args) {
  const unsigned long above = std::strtoul(args[0], nullptr, 0) << 32;
  const char letter = 'x';
  judge("TIOCSTI", ::syscall(SYS_ioctl, 0, TIOCSTI | above, &letter));
}

void change_line_discipline(Args args) {
  const unsigned long above = std::strtoul(args[0], nullptr, 0) << 32;
  const int usual = 0;
  judge("TIOCSETD", ::syscall(SYS_ioctl, 0, TIOCSETD | above, &usual));
}

void shared_memory(Args args) {
  judge("shmget", ::shmget(static_cast<key_t>(std::strtol(args[0], nullptr, 0)), 0, 0));
}

void wait_for_ever(Args /*args*/) {
  say("ready");
  hang();
}

constexpr Entry kAll[] = {
    {"find-process", find_process, 2},
    {"signal", send_signal, 1},
    {"signal-by-pidfd", signal_by_pidfd, 1},
    {"trace", trace, 1},
    {"trace-sibling", trace_sibling},
    {"trace-me", trace_me},
    {"read-sibling", read_sibling},
    {"read-memory", read_memory, 1},
    {"take-descriptor", take_descriptor},
    {"descriptors", descriptors},
    {"type-into-terminal", type_into_terminal, 1},
    {"change-line-discipline", change_line_discipline, 1},
    {"shared-memory", shared_memory, 1},
    {"wait", wait_for_ever},
};

}  // namespace

std::span<const Entry> process_attacks() { return kAll; }

}  // namespace attack
