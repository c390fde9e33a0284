// Where a program's output goes as a log: "[stdout] line".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "cordon/error.h"
#include "cordon/events.h"
#include "supervise/log_capture.h"
#include "workdir_ask.h"

namespace cordon::app {

// The file of --log: made with mode 0600, added to. Error: it cannot be written, or is no regular
// file, or a link.
[[nodiscard]] Result<base::Fd> open_log_file(const std::string& path);

// For one thread at a time. What cannot be written is lost, and said so once: a log does not change
// how a run ends.
class OutputLog {
 public:
  // Made anew for each stream; may return an empty one.
  using MakeFilter = std::function<supervise::TextFilter()>;

  // To `file`, called `name`; without one to stderr.
  OutputLog(base::Fd file, std::string name, const MakeFilter& filter = no_filter);

  // `event` is stdout's or stderr's. Once `stop` has something to read, a stderr that does not take
  // more is not waited for.
  void add(const Event& event, int stop);
  // The ends of lines that have none.
  void finish();

 private:
  static supervise::TextFilter no_filter() { return {}; }
  void write(std::string_view line);

  base::Fd file_;
  std::string name_;
  int stop_ = -1;
  bool broken_ = false;
  supervise::LogCapture out_;
  supervise::LogCapture err_;
};

}  // namespace cordon::app
