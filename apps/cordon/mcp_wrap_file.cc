#include "mcp_wrap_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/fd.h"
#include "base/printable.h"
#include "concat.h"
#include "mcp_source_kind.h"
#include "write_all.h"

namespace cordon::app {
namespace {

constexpr const char* kStage = "client config";
constexpr int kMostBackups = 1000;

std::unexpected<Error> cannot(int error, std::string_view what, const std::string& path) {
  return base::fail_os(kStage, error, concat(what, " ", base::printable(path)));
}

std::unexpected<Error> changed(const std::string& path) {
  return base::fail(ErrorCode::wrong_state, kStage,
                    concat(base::printable(path),
                           " has been changed by somebody else meanwhile: nothing was written; try "
                           "again"));
}

// A file that goes again unless it is let be.
class NewFile {
 public:
  [[nodiscard]] static Result<NewFile> create(const std::string& path) {
    base::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) return cannot(errno, "making", path);
    return NewFile(path, std::move(fd));
  }
  NewFile(NewFile&& other) noexcept
      : path_(std::exchange(other.path_, {})), fd_(std::move(other.fd_)) {}
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  [[nodiscard]] Result<void> write(const std::string& text) const {
    if (auto written = write_all(fd_.get(), text); !written) {
      return cannot(written.error().os_error, "writing", path_);
    }
    if (::fsync(fd_.get()) != 0) return cannot(errno, "writing", path_);
    return {};
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  NewFile(std::string path, base::Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  base::Fd fd_;
};

Result<void> look_alike(const NewFile& made, const struct stat& old) {
  const bool other = old.st_uid != ::geteuid() || old.st_gid != ::getegid();
  if (other && ::fchown(made.fd(), old.st_uid, old.st_gid) != 0) {
    return cannot(errno, "keeping the owner of", made.path());
  }
  if (::fchmod(made.fd(), old.st_mode & 07777U) != 0) {
    return cannot(errno, "keeping the mode of", made.path());
  }
  return {};
}

bool holds(const std::string& path, const std::string& text) {
  const auto now = read_source(path, kLargestDescription);
  return now && *now == text;
}

// Both change places in one step; so what was there can be looked at when nobody writes to its
// place any more.
Result<void> exchange(NewFile& made, const ConfigFile& file) {
  const auto swap = [&](unsigned flags) {
    return ::renameat2(AT_FDCWD, made.path().c_str(), AT_FDCWD, file.path.c_str(), flags) == 0;
  };
  if (swap(RENAME_EXCHANGE)) {
    if (holds(made.path(), file.text)) return {};
    if (!swap(RENAME_EXCHANGE)) {
      const int error = errno;
      const std::string theirs = made.path();
      made.keep();
      return cannot(error, "restoring what somebody has written meanwhile, which is now", theirs);
    }
    return changed(file.path);
  }
  if (errno == ENOENT) return changed(file.path);
  if (errno != EINVAL && errno != ENOSYS) return cannot(errno, "replacing", file.path);
  // A file system that cannot do that: there is a moment between looking and replacing.
  if (!holds(file.path, file.text)) return changed(file.path);
  if (!swap(0)) return cannot(errno, "replacing", file.path);
  made.keep();
  return {};
}

}  // namespace

Result<ConfigFile> read_config(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (error) return cannot(error.value(), "opening", path);
  auto text = read_source(real, kLargestDescription);
  if (!text) return std::unexpected(std::move(text.error()));
  struct stat info{};
  if (::lstat(real.c_str(), &info) != 0) return cannot(errno, "opening", real);
  if (info.st_nlink > 1) {
    return base::fail(ErrorCode::invalid_argument, kStage,
                      concat(base::printable(real.string()),
                             " has several names (hard links), of which only one would change: "
                             "make a copy of it first"));
  }
  return ConfigFile{.path = real, .text = *std::move(text)};
}

Result<std::string> back_up(const ConfigFile& file) {
  for (int i = 0; i < kMostBackups; ++i) {
    std::string path =
        concat(file.path, ".cordon-backup", i == 0 ? "" : concat(".", std::to_string(i)));
    auto made = NewFile::create(path);
    if (!made && made.error().os_error == EEXIST) continue;
    if (!made) return std::unexpected(std::move(made.error()));
    // Who may change the file may have its backup, too.
    struct stat old{};
    const bool theirs = ::stat(file.path.c_str(), &old) == 0 && old.st_uid != ::geteuid();
    if (theirs && ::fchown(made->fd(), old.st_uid, old.st_gid) != 0) {
      return cannot(errno, "making", path);
    }
    if (auto written = made->write(file.text); !written) {
      return std::unexpected(std::move(written.error()));
    }
    made->keep();
    return path;
  }
  return base::fail(ErrorCode::resource_exhausted, kStage,
                    concat("there are too many backups of ", base::printable(file.path),
                           ": remove those that you do not need"));
}

Result<void> replace_config(const ConfigFile& file, const std::string& text) {
  struct stat old{};
  if (::lstat(file.path.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) return changed(file.path);
  auto made = NewFile::create(concat(file.path, ".cordon-new.", std::to_string(::getpid())));
  if (!made) return std::unexpected(std::move(made.error()));
  if (auto written = made->write(text); !written) return written;
  if (auto alike = look_alike(*made, old); !alike) return alike;
  return exchange(*made, file);
}

}  // namespace cordon::app
