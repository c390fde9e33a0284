#include "output_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "concat.h"
#include "message.h"
#include "write_all.h"

namespace cordon::app {
namespace {

constexpr const char* kStage = "log";

}  // namespace

Result<base::Fd> open_log_file(const std::string& path) {
  // Non-blocking: a pipe without a reader must not hold the command up. A file does not care.
  base::Fd file(
      ::open(path.c_str(),
             O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (!file && errno == ELOOP) {
    return base::fail(ErrorCode::not_permitted, kStage,
                      concat("cannot write the log ", base::printable(path),
                             ": it is a symbolic link; name the file itself with --log"));
  }
  struct stat found{};
  if (!file || ::fstat(file.get(), &found) != 0) {
    auto failure =
        base::fail_os(kStage, errno, concat("cannot write the log ", base::printable(path)));
    failure.error().message += "; name a file you may write with --log";
    return failure;
  }
  if (!S_ISREG(found.st_mode)) {
    return base::fail(ErrorCode::invalid_argument, kStage,
                      concat("cannot write the log ", base::printable(path),
                             ": it is not a regular file; name one with --log"));
  }
  return file;
}

OutputLog::OutputLog(base::Fd file, std::string name, const MakeFilter& filter)
    : file_(std::move(file)),
      name_(std::move(name)),
      out_(
          "stdout", [this](std::string_view line) { write(line); }, filter()),
      err_("stderr", [this](std::string_view line) { write(line); }, filter()) {}

void OutputLog::add(const Event& event, int stop) {
  stop_ = stop;
  if (event.kind == Event::Kind::out) out_.add(event.data.view());
  if (event.kind == Event::Kind::err) err_.add(event.data.view());
}

void OutputLog::finish() {
  out_.finish();
  err_.finish();
}

void OutputLog::write(std::string_view line) {
  if (broken_) return;
  const auto written =
      file_ ? write_all(file_.get(), line) : write_all_until(STDERR_FILENO, line, stop_);
  if (written) return;
  broken_ = true;
  if (!file_) return;  // nobody is left to be told
  complain(concat("cannot write the log ", base::printable(name_), ": ",
                  base::errno_text(written.error().os_error), "; the rest of it is lost"));
}

}  // namespace cordon::app
