// The program that the conformance suite runs: does what its arguments say, and nothing else.
//
//   behave exit 42 | die 11 | write OUT ERR | echo | hang | ignore-term | catch-term 7 | flood
//          | blob N | orphan | tree | burn | file PATH N | alloc N | stop | read-one | close-stdin
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

bool write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0) return false;
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

void ready() { write_all(1, "ready\n"); }

volatile std::sig_atomic_t exit_code_on_term = 0;
void exit_on_term(int /*signal*/) { ::_exit(exit_code_on_term); }

int echo() {
  char block[4096];
  for (;;) {
    const ssize_t n = ::read(0, block, sizeof block);
    if (n <= 0) return n == 0 ? 0 : 1;
    if (!write_all(1, {block, static_cast<std::size_t>(n)})) return 1;
  }
}

[[noreturn]] void flood() {
  const std::string line = std::string(63, 'f') + "\n";
  std::string block;
  while (block.size() < 65536) block += line;
  for (;;) {
    write_all(1, block);
    write_all(2, block);
  }
}

int blob(std::size_t total) {
  const std::string block(65536, 'x');
  while (total > 0) {
    const std::size_t n = total < block.size() ? total : block.size();
    if (!write_all(1, std::string_view(block).substr(0, n))) return 1;
    total -= n;
  }
  return 0;
}

int fork_child(bool parent_stays) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_IGN);
    hang();
  }
  if (child < 0) return 1;
  write_all(1, "child " + std::to_string(child) + "\n");
  if (!parent_stays) return 0;
  ::signal(SIGTERM, SIG_IGN);
  ready();
  hang();
}

int make_file(const char* path, std::size_t size) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool ok = fd >= 0 && write_all(fd, std::string(size, 'x'));
  ::close(fd);
  return ok ? 0 : 3;
}

int allocate(std::size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  std::memset(memory, 1, size);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return i < argc ? std::strtoul(argv[i], nullptr, 10) : 0UL; };
  if (what == "exit") return static_cast<int>(number(2));
  if (what == "die") {
    ::signal(static_cast<int>(number(2)), SIG_DFL);
    ::raise(static_cast<int>(number(2)));
    return 99;
  }
  if (what == "write") return write_all(1, argv[2]) && write_all(2, argv[3]) ? 0 : 1;
  if (what == "echo") return echo();
  if (what == "hang") {
    ready();
    hang();
  }
  if (what == "ignore-term") {
    ::signal(SIGTERM, SIG_IGN);
    ready();
    hang();
  }
  if (what == "catch-term") {
    exit_code_on_term = static_cast<int>(number(2));
    ::signal(SIGTERM, exit_on_term);
    ready();
    hang();
  }
  if (what == "flood") flood();
  if (what == "blob") return blob(number(2));
  if (what == "orphan") return fork_child(false);
  if (what == "tree") return fork_child(true);
  if (what == "burn") {
    volatile unsigned long i = 0;
    for (;;) i = i + 1;
  }
  if (what == "file") return make_file(argv[2], number(3));
  if (what == "alloc") return allocate(number(2));
  if (what == "stop") {
    ready();
    ::raise(SIGSTOP);
    return 0;
  }
  if (what == "close-stdin") {
    ::close(0);
    ready();
    hang();
  }
  return 98;
}
