#include "batch_progress.h"

#include <unistd.h>

#include "concat.h"
#include "message.h"
#include "terminal.h"
#include "write_all.h"

namespace cordon::app {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr std::size_t kUsualColumns = 80;

}  // namespace

ProgressDisplay::ProgressDisplay(const BatchOptions& options) {
  if (options.quiet) return;
  const bool in_the_way = options.results.empty() && is_terminal(STDOUT_FILENO);
  if (is_terminal(STDERR_FILENO) && (options.progress || !in_the_way)) {
    kind_ = Kind::bar;
  } else if (options.progress) {
    kind_ = Kind::lines;
  }
}

Duration ProgressDisplay::period() const {
  switch (kind_) {
    case Kind::none:
      break;
    case Kind::bar:
      return std::chrono::milliseconds(100);
    case Kind::lines:
      return std::chrono::seconds(1);
  }
  return Duration{0};
}

void ProgressDisplay::draw(const Progress& progress, const Tally& tally) {
  if (kind_ == Kind::none) return;
  if (kind_ == Kind::lines) return complain(progress_line(progress, tally, std::string::npos));
  const auto size = terminal_size(STDERR_FILENO);
  const std::size_t columns = (size ? size->columns : kUsualColumns) - 1;
  (void)write_all(STDERR_FILENO, concat(kEraseLine, progress_line(progress, tally, columns)));
  drawn_ = true;
}

void ProgressDisplay::clear() {
  if (!drawn_) return;
  drawn_ = false;
  (void)write_all(STDERR_FILENO, kEraseLine);
}

}  // namespace cordon::app
