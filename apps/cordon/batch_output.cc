#include "batch_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "concat.h"
#include "cordon/clock.h"
#include "write_all.h"

namespace cordon::app {
namespace {

std::unexpected<Error> cannot_write(const std::string& path, int error) {
  return base::fail_os("results", error,
                       concat("cannot write the results to ", base::printable(path)));
}

// Two batches must not write to one file. One that was killed a moment ago may not be quite gone.
Result<void> lock(int fd, const std::string& path) {
  constexpr auto kPatience = std::chrono::seconds(1);
  constexpr auto kPause = std::chrono::milliseconds(20);
  Clock& clock = real_clock();
  const TimePoint until = clock.now() + kPatience;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return cannot_write(path, errno);
    if (clock.now() >= until) {
      return base::fail(ErrorCode::wrong_state, "results",
                        concat("another batch writes to ", base::printable(path),
                               ": wait for its end, or name another file with --results"));
    }
    clock.sleep_until(clock.now() + kPause);
  }
  return {};
}

bool is_regular(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

Result<ResultsFile> ResultsFile::create(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_APPEND;
  constexpr mode_t kMode = 0666;
  ResultsFile results;
  results.name_ = path;
  results.file_ = base::Fd(::open(path.c_str(), kFlags | O_CREAT | O_EXCL, kMode));
  if (!results.file_ && errno == EEXIST) {
    results.file_ = base::Fd(::open(path.c_str(), kFlags));
    if (!results.file_) return cannot_write(path, errno);
    if (is_regular(results.file_.get())) {
      return base::fail(ErrorCode::invalid_argument, "results",
                        concat(base::printable(path),
                               " exists already: add --resume to go on where the batch that wrote "
                               "it was stopped, or remove it"));
    }
    return results;
  }
  if (!results.file_) return cannot_write(path, errno);
  if (auto locked = lock(results.file_.get(), path); !locked) {
    return std::unexpected(std::move(locked).error());
  }
  results.resumable_ = true;
  return results;
}

Result<ResultsFile> ResultsFile::resume(const std::string& path, LineReader& requests,
                                        std::string_view options, Tally& tally, Resumed& resumed) {
  ResultsFile results;
  results.name_ = path;
  // Looked at before it is opened: to open a pipe might block, or be seen at its other end.
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return base::fail(ErrorCode::invalid_argument, "results",
                      concat(base::printable(path),
                             " is no regular file, so nothing in it tells what is done: leave "
                             "--resume out, or name another file with --results"));
  }
  results.file_ = base::Fd(
      ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_APPEND | O_CREAT, 0666));
  if (!results.file_) return cannot_write(path, errno);
  if (auto locked = lock(results.file_.get(), path); !locked) {
    return std::unexpected(std::move(locked).error());
  }
  results.resumable_ = true;
  BatchInput written =
      BatchInput::of(base::Fd(::fcntl(results.file_.get(), F_DUPFD_CLOEXEC, 3)), path);
  auto scanned = scan_results(written, requests, options, tally);
  if (!scanned) return std::unexpected(std::move(scanned).error());
  resumed = *scanned;
  if (::ftruncate(results.file_.get(), static_cast<off_t>(resumed.bytes)) != 0) {
    return cannot_write(path, errno);
  }
  return results;
}

Result<void> ResultsFile::write(std::string_view lines, int stop) const {
  const int fd = file_ ? file_.get() : STDOUT_FILENO;
  auto written = write_all_until(fd, lines, stop);
  if (written || written.error().code == ErrorCode::timed_out) return written;
  return cannot_write(name_, written.error().os_error);
}

}  // namespace cordon::app
