#include "workdir/output_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <span>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "base/trust.h"
#include "workdir/beneath.h"
#include "workdir/copy_file.h"

namespace cordon::workdir {
namespace {

constexpr const char* kStage = "collect";
constexpr mode_t kDirectory = 0755;
constexpr mode_t kFile = 0644;  // never with more rights than these, whatever the program gave it

std::unexpected<Error> refuse(const std::string& name, const std::string& why) {
  return base::fail(ErrorCode::not_permitted, kStage,
                    "files cannot be collected into " + base::printable(name) + ": " + why);
}

bool same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// A new file in a directory under a name for the meantime; removed unless it gets its own.
class NewFile {
 public:
  explicit NewFile(int directory) : directory_(directory) {
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries; ++i) {
      name_ = ".cordon-" + std::to_string(::getpid()) + "-" + std::to_string(i);
      fd_ = base::Fd(::openat(directory_, name_.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFile));
      if (fd_ || errno != EEXIST) return;
    }
  }
  ~NewFile() {
    if (fd_) (void)::unlinkat(directory_, name_.c_str(), 0);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] int fd() const { return fd_.get(); }

  // 0, or an errno: EEXIST if the name is taken.
  [[nodiscard]] int appear_as(const char* name) {
    if (::renameat2(directory_, name_.c_str(), directory_, name, RENAME_NOREPLACE) == 0) {
      fd_.reset();
      return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // Not every file system can do that; a second name never replaces anything, either.
    return ::linkat(directory_, name_.c_str(), directory_, name, 0) == 0 ? 0 : errno;
  }

 private:
  int directory_;
  std::string name_;
  base::Fd fd_;
};

}  // namespace

Result<OutputDirectory> OutputDirectory::open(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return base::fail(ErrorCode::invalid_argument, kStage,
                      "there is no directory to collect into: name one by --into DIR");
  }
  if (::mkdir(path.c_str(), kDirectory) != 0 && errno != EEXIST) {
    return base::fail_os(kStage, errno, "cannot make the directory " + base::printable(path));
  }
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return base::fail_os(kStage, errno, "cannot open " + base::printable(path));
  return from_fd(fd.get(), path);
}

Result<OutputDirectory> OutputDirectory::from_fd(int fd, std::string name) {
  OutputDirectory output;
  output.name_ = std::move(name);
  output.fd_ = base::Fd(::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat found{};
  if (!output.fd_ || ::fstat(output.fd_.get(), &found) != 0) {
    return base::fail_os(kStage, errno, "cannot open " + base::printable(output.name_));
  }
  // Not even root's, unless root asks: what is collected is the caller's.
  if (found.st_uid != ::geteuid()) {
    return refuse(output.name_, "it belongs to user " + std::to_string(found.st_uid) +
                                    ": choose a directory of your own by --into DIR");
  }
  if (base::others_may_write(found)) {
    return refuse(output.name_,
                  "its group or others may write there: take that away (chmod go-w), or choose "
                  "another by --into DIR");
  }
  return output;
}

bool OutputDirectory::is_within(int fd) const {
  struct stat wanted{};
  struct stat here{};
  base::Fd at(::openat(fd_.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (::fstat(fd, &wanted) != 0 || !at || ::fstat(at.get(), &here) != 0) return true;
  while (!same(here, wanted)) {
    base::Fd above(::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat next{};
    if (!above || ::fstat(above.get(), &next) != 0) return true;  // cannot tell: rather not
    if (same(here, next)) return false;                           // the root
    at = std::move(above);
    here = next;
  }
  return true;
}

Result<void> OutputDirectory::add(const std::vector<std::string>& path, int from,
                                  std::uint64_t size) const {
  const std::span<const std::string> names(path);
  std::string so_far = name_;
  const auto failure = [&](int error) {
    return base::fail_os(kStage, error, base::printable(so_far));
  };

  base::Fd directory(::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return failure(errno);
  for (const std::string& name : names.first(names.size() - 1)) {
    so_far += "/" + name;
    if (::mkdirat(directory.get(), name.c_str(), kDirectory) != 0 && errno != EEXIST) {
      return failure(errno);
    }
    directory = open_beneath(directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!directory) return failure(errno);
  }
  so_far += "/" + names.back();
  const char* const last = names.back().c_str();
  struct stat there{};
  if (::fstatat(directory.get(), last, &there, AT_SYMLINK_NOFOLLOW) == 0) return failure(EEXIST);

  NewFile file(directory.get());
  if (file.fd() < 0) return failure(errno);
  if (const int error = copy_file(from, file.fd(), size); error != 0) return failure(error);
  if (const int error = file.appear_as(last); error != 0) return failure(error);
  return {};
}

}  // namespace cordon::workdir
