#include "workdir/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace cordon::workdir {
namespace {

constexpr mode_t kOwnerAll = S_IRWXU;
constexpr mode_t kPermissions = 07777;

}  // namespace

base::Fd open_beneath(int directory, const char* path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  while (true) {
    base::Fd fd(static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof how)));
    if (fd || errno != EINTR) return fd;
  }
}

base::Fd open_to_empty(int directory, const char* name) {
  base::Fd found = open_beneath(directory, name, O_PATH | O_NOFOLLOW);
  struct stat status{};
  if (!found || ::fstat(found.get(), &status) != 0) return {};
  if (!S_ISDIR(status.st_mode)) {
    errno = ENOTDIR;
    return {};
  }
  if ((status.st_mode & kOwnerAll) != kOwnerAll) {
    // fchmod() refuses O_PATH, and a directory of mode 0 cannot be opened otherwise. This link is
    // the kernel's own for our descriptor: it leads to this inode, whatever its names are now. Root
    // does not need it, so a failure shows in what comes next, or not at all.
    const std::string self = "/proc/self/fd/" + std::to_string(found.get());
    (void)::chmod(self.c_str(), (status.st_mode & kPermissions) | kOwnerAll);
  }
  return base::Fd(::openat(found.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace cordon::workdir
