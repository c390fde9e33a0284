// A program that is refused things, for the tests of their reports. It says what became of each.
//
//   explained open PATH…           to read: "0" or the errno, a line each
//             write PATH…          to write, existing ones
//             create PATH…
//             execute PATH
//             call NUMBER…         system calls without arguments
//             connect PORT         of 127.0.0.1
//             child PATH           opened by a child that has executed this program anew
//             hammer N COUNT PATH  N threads open it COUNT times each: "failed TIMES"
//             race A B COUNT       opens a path that another thread changes all the time; "clean"
//                                  unless what is read is ever that of B
//             listen               makes a seccomp listener of its own: "0" or the errno
//             take-over FILE       tries that for ever; if it works, lets through what is refused
//                                  and writes to FILE
//             for-ever PATH        opens it all the time
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

int try_open(const char* path, int flags) {
  const int fd = ::open(path, flags, 0600);
  const int error = fd < 0 ? errno : 0;
  if (fd >= 0) ::close(fd);
  return error;
}

void say(int error) {
  std::printf("%d\n", error);
  std::fflush(stdout);
}

int connect_to(const char* port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  say(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno);
  return 0;
}

int in_child(const char* self, const char* path) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(self, self, "open", path, nullptr);
    ::_exit(1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child ? status : 1;
}

int hammer(int threads, int count, const char* path) {
  std::atomic<int> failed = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (int n = 0; n < count; ++n) failed += try_open(path, O_RDONLY) == ENOENT ? 1 : 0;
    });
  }
  for (std::thread& thread : all) thread.join();
  std::printf("failed %d\n", failed.load());
  return 0;
}

// Both paths are of the same length.
int race(const std::string& good, const std::string& bad, int count) {
  static char path[4096];
  std::strcpy(path, good.c_str());
  std::atomic<bool> done = false;
  std::thread changing([&] {
    volatile char* const text = path;
    while (!done) {
      for (std::size_t i = 0; i < bad.size(); ++i) text[i] = bad[i];
      for (std::size_t i = 0; i < good.size(); ++i) text[i] = good[i];
    }
  });
  bool clean = true;
  for (int i = 0; i < count; ++i) {
    const int fd = ::open(path, O_RDONLY);
    char content[6] = {};
    if (fd >= 0 && ::read(fd, content, 6) == 6) clean &= std::memcmp(content, "secret", 6) != 0;
    if (fd >= 0) ::close(fd);
  }
  done = true;
  changing.join();
  std::puts(clean ? "clean" : "leaked");
  return 0;
}

// Asks its listener about mount(). Returns a descriptor, or -1 with errno.
int make_listener() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 4, .filter = filter};
  return static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

[[noreturn]] void take_over(const char* file) {
  const int told = ::open(file, O_CREAT | O_WRONLY | O_APPEND, 0600);  // nobody may answer later
  say(told < 0 ? errno : 0);
  int listener = -1;
  while (listener < 0) listener = make_listener();
  std::thread answering([listener] {
    for (;;) {
      seccomp_notif heard{};
      if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &heard) != 0) continue;
      seccomp_notif_resp answer{};
      answer.id = heard.id;
      answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
      ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
  });
  // Without rights the kernel says EPERM: then it was the kernel's turn, not the filter's.
  if (::syscall(SYS_mount, 0, 0, 0, 0, 0) != 0 && errno != ENOSYS) (void)!::write(told, "!", 1);
  for (;;) ::pause();
}

int each(int count, char** words, int (*step)(const char*)) {
  for (int i = 0; i < count; ++i) say(step(words[i]));
  return 0;
}

int call_number(const char* number) {
  return ::syscall(std::atol(number), 0, 0, 0, 0, 0, 0) < 0 ? errno : 0;
}

int execute(const char* path) {
  ::execl(path, path, nullptr);
  return errno;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const int count = argc - 2;
  char** words = argv + 2;
  if (count < 1 && what != "listen") return 2;
  if (what == "open") {
    return each(count, words, [](const char* path) { return try_open(path, O_RDONLY); });
  }
  if (what == "write") {
    return each(count, words, [](const char* path) { return try_open(path, O_WRONLY); });
  }
  if (what == "create") {
    return each(count, words, [](const char* path) { return try_open(path, O_CREAT | O_WRONLY); });
  }
  if (what == "execute") return each(count, words, execute);
  if (what == "call") return each(count, words, call_number);
  if (what == "connect") return connect_to(words[0]);
  if (what == "child") return in_child(argv[0], words[0]);
  if (what == "hammer" && count == 3) {
    return hammer(std::atoi(words[0]), std::atoi(words[1]), words[2]);
  }
  if (what == "race" && count == 3) return race(words[0], words[1], std::atoi(words[2]));
  if (what == "listen") {
    say(make_listener() < 0 ? errno : 0);
    return 0;
  }
  if (what == "take-over") take_over(words[0]);
  if (what == "for-ever") {
    for (;;) (void)try_open(words[0], O_RDONLY);
  }
  return 2;
}
