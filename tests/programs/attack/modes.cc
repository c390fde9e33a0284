// Every way to leave a setuid or setgid file behind: set-ids WAY FOLDER.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "attack.h"

namespace attack {
namespace {

constexpr mode_t kMode = S_ISUID | S_ISGID | 0755;
constexpr long kFchmodat2 = 452;

void plain(const char* path) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) untried("create");
  ::close(fd);
}

long by_chmod(const char* path) {
  plain(path);
  return ::syscall(SYS_chmod, path, kMode);
}
long by_fchmod(const char* path) {
  plain(path);
  return ::syscall(SYS_fchmod, ::open(path, O_RDONLY | O_CLOEXEC), kMode);
}
long by_fchmodat(const char* path) {
  plain(path);
  return ::syscall(SYS_fchmodat, AT_FDCWD, path, kMode);
}
long by_fchmodat2(const char* path) {
  plain(path);
  return ::syscall(kFchmodat2, AT_FDCWD, path, kMode, 0);
}
// The kernel looks at 16 bits of a mode.
long by_wide_chmod(const char* path) {
  plain(path);
  return ::syscall(SYS_chmod, path, (1UL << 32) | kMode);
}
long by_open(const char* path) { return ::syscall(SYS_open, path, O_WRONLY | O_CREAT, kMode); }
long by_openat(const char* path) {
  return ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, kMode);
}
long by_openat2(const char* path) {
  struct {
    std::uint64_t flags = O_WRONLY | O_CREAT;
    std::uint64_t mode = kMode;
    std::uint64_t resolve = 0;
  } how;
  return ::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}
long by_creat(const char* path) { return ::syscall(SYS_creat, path, kMode); }
long by_mknod(const char* path) { return ::syscall(SYS_mknod, path, S_IFREG | kMode, 0); }
long by_mknodat(const char* path) {
  return ::syscall(SYS_mknodat, AT_FDCWD, path, S_IFREG | kMode, 0);
}
long by_tmpfile(const char* path) {
  const std::string folder(path, static_cast<std::size_t>(std::strrchr(path, '/') - path));
  const long fd = ::syscall(SYS_openat, AT_FDCWD, folder.c_str(), O_TMPFILE | O_RDWR, kMode);
  if (fd < 0) return fd;
  const std::string from = "/proc/self/fd/" + std::to_string(fd);
  return ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}
long by_directory(const char* path) {
  if (::syscall(SYS_mkdir, path, 0755) != 0) untried("mkdir");
  return ::syscall(SYS_chmod, path, S_ISGID | 0755);
}
long by_mkdir(const char* path) { return ::syscall(SYS_mkdir, path, kMode); }
// A bound socket takes its mode from the socket itself.
long by_socket(const char* path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::syscall(SYS_fchmod, fd, kMode) != 0) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

struct Way {
  std::string_view name;
  long (*make)(const char* path);
};
constexpr Way kWays[] = {
    {"chmod", by_chmod},         {"fchmod", by_fchmod},         {"fchmodat", by_fchmodat},
    {"fchmodat2", by_fchmodat2}, {"wide-chmod", by_wide_chmod}, {"open", by_open},
    {"openat", by_openat},       {"openat2", by_openat2},       {"creat", by_creat},
    {"mknod", by_mknod},         {"mknodat", by_mknodat},       {"tmpfile", by_tmpfile},
    {"directory", by_directory}, {"mkdir", by_mkdir},           {"socket", by_socket},
};

void set_ids(Args args) {
  ::umask(0);
  const std::string path = std::string(args[1]) + "/left-" + args[0];
  for (const Way& way : kWays) {
    if (way.name != args[0]) continue;
    if (way.make(path.c_str()) < 0) stopped(way.name);
    struct stat made{};
    if (::lstat(path.c_str(), &made) != 0) untried("lstat");
    if ((made.st_mode & (S_ISUID | S_ISGID)) == 0) stopped("the kernel ignored it", EPERM);
    reached(way.name);
  }
  untried("no such way", EINVAL);
}

constexpr Entry kAll[] = {{"set-ids", set_ids, 2}};

}  // namespace

std::span<const Entry> mode_attacks() { return kAll; }

}  // namespace attack
