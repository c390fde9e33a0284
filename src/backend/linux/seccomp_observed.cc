#include "backend/linux/seccomp_observed.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "backend/linux/seccomp_calls.h"

namespace cordon::linux_backend {
namespace {

constexpr int kHere = -1;     // relative to the working directory
constexpr int kNoFlags = -1;  // no argument changes whether links are followed
constexpr bool kFollow = true;
constexpr bool kNoFollow = false;

// One path of a call. Calls with two have two lines.
struct Line {
  int number;
  int directory;  // index of the argument, or kHere
  int path;       // index of the argument
  Use use;
  bool follow;
  int flags;  // index of an argument with AT_SYMLINK_NOFOLLOW
};

// open, openat and creat are read by their flags, below.
constexpr auto kLines = std::to_array<Line>({
    {SYS_access, kHere, 0, Use::look, kFollow, kNoFlags},
    {SYS_faccessat, 0, 1, Use::look, kFollow, kNoFlags},
    {SYS_faccessat2, 0, 1, Use::look, kFollow, 3},
    {SYS_stat, kHere, 0, Use::look, kFollow, kNoFlags},
    {SYS_lstat, kHere, 0, Use::look, kNoFollow, kNoFlags},
    {SYS_newfstatat, 0, 1, Use::look, kFollow, 3},
    {SYS_statx, 0, 1, Use::look, kFollow, 2},
    {SYS_statfs, kHere, 0, Use::look, kFollow, kNoFlags},
    {SYS_readlink, kHere, 0, Use::look, kNoFollow, kNoFlags},
    {SYS_readlinkat, 0, 1, Use::look, kNoFollow, kNoFlags},
    {SYS_chdir, kHere, 0, Use::look, kFollow, kNoFlags},
    {SYS_execve, kHere, 0, Use::execute, kFollow, kNoFlags},
    {SYS_execveat, 0, 1, Use::execute, kFollow, 4},
    {SYS_mkdir, kHere, 0, Use::make_directory, kNoFollow, kNoFlags},
    {SYS_mkdirat, 0, 1, Use::make_directory, kNoFollow, kNoFlags},
    {SYS_mknod, kHere, 0, Use::make, kNoFollow, kNoFlags},
    {SYS_mknodat, 0, 1, Use::make, kNoFollow, kNoFlags},
    {SYS_symlink, kHere, 1, Use::make, kNoFollow, kNoFlags},
    {SYS_symlinkat, 1, 2, Use::make, kNoFollow, kNoFlags},
    {SYS_link, kHere, 0, Use::look, kNoFollow, kNoFlags},
    {SYS_link, kHere, 1, Use::make, kNoFollow, kNoFlags},
    {SYS_linkat, 0, 1, Use::look, kNoFollow, kNoFlags},
    {SYS_linkat, 2, 3, Use::make, kNoFollow, kNoFlags},
    {SYS_rename, kHere, 0, Use::remove, kNoFollow, kNoFlags},
    {SYS_rename, kHere, 1, Use::replace, kNoFollow, kNoFlags},
    {SYS_renameat, 0, 1, Use::remove, kNoFollow, kNoFlags},
    {SYS_renameat, 2, 3, Use::replace, kNoFollow, kNoFlags},
    {SYS_renameat2, 0, 1, Use::remove, kNoFollow, kNoFlags},
    {SYS_renameat2, 2, 3, Use::replace, kNoFollow, kNoFlags},
    {SYS_unlink, kHere, 0, Use::remove, kNoFollow, kNoFlags},
    {SYS_unlinkat, 0, 1, Use::remove, kNoFollow, kNoFlags},
    {SYS_rmdir, kHere, 0, Use::remove, kNoFollow, kNoFlags},
    {SYS_chmod, kHere, 0, Use::write, kFollow, kNoFlags},
    {SYS_fchmodat, 0, 1, Use::write, kFollow, kNoFlags},
    {kFchmodat2, 0, 1, Use::write, kFollow, 3},
    {SYS_chown, kHere, 0, Use::write, kFollow, kNoFlags},
    {SYS_lchown, kHere, 0, Use::write, kNoFollow, kNoFlags},
    {SYS_fchownat, 0, 1, Use::write, kFollow, 4},
    {SYS_truncate, kHere, 0, Use::write, kFollow, kNoFlags},
    {SYS_utime, kHere, 0, Use::write, kFollow, kNoFlags},
    {SYS_utimes, kHere, 0, Use::write, kFollow, kNoFlags},
    {SYS_futimesat, 0, 1, Use::write, kFollow, kNoFlags},
    {SYS_utimensat, 0, 1, Use::write, kFollow, 3},
    {SYS_setxattr, kHere, 0, Use::write, kFollow, kNoFlags},
    {SYS_lsetxattr, kHere, 0, Use::write, kNoFollow, kNoFlags},
    {SYS_removexattr, kHere, 0, Use::write, kFollow, kNoFlags},
    {SYS_lremovexattr, kHere, 0, Use::write, kNoFollow, kNoFlags},
});

constexpr auto kOthers =
    std::to_array<int>({SYS_open, SYS_openat, SYS_creat, SYS_connect, SYS_sendto});

// access() and its like ask for more than a look.
bool asks_to_write(const seccomp_data& call) {
  constexpr std::uint64_t kWrite = W_OK;
  if (call.nr == SYS_access) return (call.args[1] & kWrite) != 0;
  return (call.nr == SYS_faccessat || call.nr == SYS_faccessat2) && (call.args[2] & kWrite) != 0;
}

// As the kernel reads an int.
int number_of(const seccomp_data& call, int index) { return static_cast<int>(call.args[index]); }

NamedPath opened(int directory, std::uint64_t address, int flags) {
  NamedPath path{.directory = directory, .address = address, .use = Use::read};
  path.follow = (flags & O_NOFOLLOW) == 0;
  if ((flags & O_PATH) != 0) {
    path.use = Use::look;
  } else if ((flags & O_CREAT) != 0) {
    path.use = Use::create;
    if ((flags & O_EXCL) != 0) path.follow = false;
  } else if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0) {
    path.use = Use::write;  // O_TMPFILE writes to the directory it names
  }
  return path;
}

}  // namespace

std::span<const int> observed_calls() {
  static const std::vector<int> kAll = [] {
    std::vector<int> all(kOthers.begin(), kOthers.end());
    for (const Line& line : kLines) all.push_back(line.number);
    return all;
  }();
  return kAll;
}

Named named_by(const seccomp_data& call) {
  Named named;
  switch (call.nr) {
    case SYS_open:
      named.paths.push_back(opened(AT_FDCWD, call.args[0], number_of(call, 1)));
      return named;
    case SYS_openat:
      named.paths.push_back(opened(number_of(call, 0), call.args[1], number_of(call, 2)));
      return named;
    case SYS_creat:
      named.paths.push_back(opened(AT_FDCWD, call.args[0], O_CREAT | O_WRONLY | O_TRUNC));
      return named;
    case SYS_connect:
      named.socket = NamedSocket{.address = call.args[1], .size = call.args[2]};
      return named;
    case SYS_sendto:
      named.socket = NamedSocket{.address = call.args[4], .size = call.args[5], .send = true};
      return named;
    default:
      break;
  }
  for (const Line& line : kLines) {
    if (line.number != call.nr) continue;
    NamedPath path{.address = call.args[line.path], .use = line.use, .follow = line.follow};
    if (asks_to_write(call)) path.use = Use::write;
    path.directory = line.directory == kHere ? AT_FDCWD : number_of(call, line.directory);
    if (line.flags != kNoFlags && (number_of(call, line.flags) & AT_SYMLINK_NOFOLLOW) != 0) {
      path.follow = false;
    }
    named.paths.push_back(path);
  }
  return named;
}

}  // namespace cordon::linux_backend
