#include "report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "write_all.h"

namespace cordon::app {
namespace {

std::unexpected<Error> cannot_write(const std::string& path, int os_error) {
  auto failure = base::fail_os("report", os_error, concat("cannot write report ", path));
  Error error = std::move(failure).error();
  error.message += "; name a file you may write with --report";
  return std::unexpected(std::move(error));
}

// /dev/stderr and the like name a descriptor we have. To open it anew would lose its position, and
// to replace it would be wrong altogether.
std::optional<int> descriptor_named(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view directory : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(directory)) continue;
    const std::string_view number = path.substr(directory.size());
    int fd = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), fd);
    if (error == std::errc{} && end == number.data() + number.size()) return fd;
  }
  return std::nullopt;
}

mode_t permissions_for(const std::string& target) {
  struct stat status{};
  if (::stat(target.c_str(), &status) == 0) return status.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// A new file beside `target`, to take its place. Removed again unless that happens.
class Replacement {
 public:
  explicit Replacement(std::string target)
      : target_(std::move(target)), name_(target_ + ".XXXXXX") {
    fd_ = base::Fd(::mkostemp(name_.data(), O_CLOEXEC));
    error_ = fd_ ? 0 : errno;
  }
  ~Replacement() {
    if (fd_) (void)::unlink(name_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  [[nodiscard]] int error() const { return error_; }

  // 0 or an errno.
  [[nodiscard]] int fill_and_replace(std::string_view text) {
    if (const auto written = write_all(fd_.get(), text); !written) return written.error().os_error;
    if (::fchmod(fd_.get(), permissions_for(target_)) != 0) return errno;
    if (::rename(name_.c_str(), target_.c_str()) != 0) return errno;
    fd_.reset();
    return 0;
  }

 private:
  std::string target_;
  std::string name_;
  base::Fd fd_;
  int error_;
};

}  // namespace

Result<ReportFile> ReportFile::open(const std::string& path) {
  ReportFile report;
  report.path_ = path;

  if (const auto named = descriptor_named(path)) {
    report.in_place_ = base::Fd(::fcntl(*named, F_DUPFD_CLOEXEC, 3));
    if (!report.in_place_) return cannot_write(path, errno);
    return report;
  }

  struct stat status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) return cannot_write(path, errno);
  if (exists && !S_ISREG(status.st_mode)) {
    report.in_place_ = base::Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!report.in_place_) return cannot_write(path, errno);
    return report;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) return cannot_write(path, errno);

  report.target_ = path;
  if (exists) {  // behind a symbolic link, the file is replaced and not the link
    std::error_code error;
    const auto resolved = std::filesystem::canonical(path, error);
    if (!error) report.target_ = resolved.string();
  }
  const Replacement trial(report.target_);
  if (trial.error() != 0) return cannot_write(path, trial.error());
  return report;
}

Result<void> ReportFile::write(std::string_view text) {
  if (in_place_) {
    const auto written = write_all(in_place_.get(), text);
    if (!written) return cannot_write(path_, written.error().os_error);
    return {};
  }
  Replacement replacement(target_);
  int error = replacement.error();
  if (error == 0) error = replacement.fill_and_replace(text);
  if (error != 0) return cannot_write(path_, error);
  return {};
}

}  // namespace cordon::app
