// More memory, disk and processes than allowed.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "attack.h"

namespace attack {
namespace {

std::size_t number(const char* text) { return std::strtoul(text, nullptr, 10); }

void fill(int fd, std::size_t size) {
  const std::string block(1 << 16, 'x');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::write(fd, block.data(), std::min(block.size(), size - done));
    if (n < 0) stopped("write after " + std::to_string(done));
    done += static_cast<std::size_t>(n);
  }
  reached("all of it");
}

void touch(void* memory, std::size_t size) {
  if (memory == MAP_FAILED) stopped("mmap");
  std::memset(memory, 1, size);
  reached("all of it");
}

void heap(Args args) {
  const std::size_t size = number(args[0]);
  touch(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), size);
}

// By many processes, each with a part.
void heaps(Args args) {
  constexpr std::size_t kProcesses = 8;
  const std::size_t part = number(args[0]) / kProcesses;
  int ends[2];
  if (::pipe(ends) != 0) untried("pipe");
  for (std::size_t i = 0; i < kProcesses; ++i) {
    if (::fork() != 0) continue;
    void* const memory =
        ::mmap(nullptr, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) ::_exit(1);
    std::memset(memory, 1, part);
    (void)!::write(ends[1], "x", 1);
    hang();
  }
  char byte = 0;
  ::close(ends[1]);
  for (std::size_t i = 0; i < kProcesses; ++i) {
    if (::read(ends[0], &byte, 1) != 1) stopped("a process was killed", ENOMEM);
  }
  reached("all of it");
}

void file(Args args) {
  const int fd = ::open(args[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) untried("open");
  fill(fd, number(args[1]));
}

void anonymous_file(Args args) { fill(::memfd_create("bomb", MFD_CLOEXEC), number(args[0])); }

void shared(Args args) {
  const std::size_t size = number(args[0]);
  const int id = ::shmget(IPC_PRIVATE, size, 0600);
  if (id < 0) stopped("shmget");
  void* const memory = ::shmat(id, nullptr, 0);
  ::shmctl(id, IPC_RMID, nullptr);
  if (memory == MAP_FAILED) stopped("shmat");  // the same -1
  touch(memory, size);
}

// A fixed number of processes, all alive at once.
void forks(Args args) {
  std::vector<pid_t> children;
  for (std::size_t i = number(args[0]); i > 0; --i) {
    const pid_t child = ::fork();
    if (child == 0) hang();
    if (child < 0) break;
    children.push_back(child);
  }
  const int error = errno;
  for (const pid_t child : children) ::kill(child, SIGKILL);
  while (::wait(nullptr) > 0) {
  }
  if (children.size() < number(args[0])) {
    stopped("fork after " + std::to_string(children.size()), error);
  }
  reached("all of them");
}

// Without end: never to be run outside a sandbox, so it asks to be pid 2 of one, or 4 of one that
// has a nursery and a main program. On the host these are the kernel's.
void fork_bomb(Args /*args*/) {
  if (::getpid() != 2 && ::getpid() != 4) untried("not in a sandbox", EPERM);
  say("ready");
  for (;;) ::fork();
}

void kill_oneself(Args /*args*/) { ::kill(::getpid(), SIGKILL); }

constexpr Entry kAll[] = {
    {"heap", heap, 1},        {"heaps", heaps, 1},
    {"file", file, 2},        {"memfd", anonymous_file, 1},
    {"shared", shared, 1},    {"forks", forks, 1},
    {"fork-bomb", fork_bomb}, {"kill-oneself", kill_oneself},
};

}  // namespace

std::span<const Entry> resource_attacks() { return kAll; }

}  // namespace attack
