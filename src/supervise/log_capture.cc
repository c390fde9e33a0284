#include "supervise/log_capture.h"

#include <utility>

#include "base/printable.h"

namespace cordon::supervise {
namespace {

// A log is read on terminals: nothing in it may command one. Tabs are harmless.
void append_text(std::string& line, std::string_view text) {
  while (true) {
    const std::size_t tab = text.find('\t');
    line += base::printable(text.substr(0, tab));
    if (tab == std::string_view::npos) return;
    line += '\t';
    text.remove_prefix(tab + 1);
  }
}

}  // namespace

LogCapture::LogCapture(std::string_view name, Sink sink, TextFilter filter, std::size_t longest)
    : prefix_("[" + base::printable(name) + "] "),
      sink_(std::move(sink)),
      filter_(std::move(filter)),
      line_(longest, /*invalid=*/false) {}

void LogCapture::add(std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  if (filter_.add) {
    assemble(filter_.add(bytes));
  } else {
    assemble(bytes);
  }
  hand_out();
}

void LogCapture::finish() {
  const std::scoped_lock lock(mutex_);
  if (filter_.finish) assemble(filter_.finish());
  line_.finish(frames_);
  hand_out();
}

void LogCapture::assemble(std::string_view text) {
  while (!text.empty()) text.remove_prefix(line_.add(text, frames_).consumed);
}

void LogCapture::hand_out() {
  for (const Event& frame : frames_) {
    std::string line = prefix_;
    append_text(line, frame.data.view());
    line += '\n';
    sink_(line);
  }
  frames_.clear();
}

}  // namespace cordon::supervise
