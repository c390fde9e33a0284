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

#include <fmt/format.h>

#include "base/errors.h"
#include "write_all.h"

namespace cordon::app {
namespace {

std::unexpected<Error> cannot_write(const std::string& path, int os_error) {
  auto failure = base::fail_os("report", os_error, fmt::format("cannot write report {}", path));
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

}  // namespace

Result<ReportFile> ReportFile::open(const std::string& path) {
  ReportFile report;
  report.path_ = path;

  if (const auto named = descriptor_named(path)) {
    report.fd_ = base::Fd(::fcntl(*named, F_DUPFD_CLOEXEC, 3));
    if (!report.fd_) return cannot_write(path, errno);
    return report;
  }

  struct stat status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) return cannot_write(path, errno);
  if (exists && !S_ISREG(status.st_mode)) {
    report.fd_ = base::Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!report.fd_) return cannot_write(path, errno);
    return report;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) return cannot_write(path, errno);

  std::error_code ignored;  // then the name as given has to do
  const auto resolved = std::filesystem::canonical(path, ignored);
  report.target_ = exists && !ignored ? resolved.string() : path;
  report.temporary_ = report.target_ + ".XXXXXX";
  report.fd_ = base::Fd(::mkostemp(report.temporary_.data(), O_CLOEXEC));
  if (!report.fd_) {
    const int error = errno;
    report.temporary_.clear();
    return cannot_write(path, error);
  }
  return report;
}

ReportFile::ReportFile(ReportFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})) {}

ReportFile::~ReportFile() {
  if (!temporary_.empty()) (void)::unlink(temporary_.c_str());
}

Result<void> ReportFile::write(std::string_view text) {
  if (const auto written = write_all(fd_.get(), text); !written) {
    return cannot_write(path_, written.error().os_error);
  }
  if (target_.empty()) return {};
  if (::fchmod(fd_.get(), permissions_for(target_)) != 0 ||
      ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    return cannot_write(path_, errno);
  }
  temporary_.clear();
  return {};
}

}  // namespace cordon::app
