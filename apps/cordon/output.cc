#include "output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "message.h"
#include "secrets/redactor.h"
#include "write_all.h"

namespace cordon::app {
namespace {

// What is left of a stream without secrets; all of it where there are none.
class Filter {
 public:
  explicit Filter(const Redacted& redacted) {
    if (redacted) redactor_.emplace(redacted);
  }
  // Valid until the next call.
  [[nodiscard]] std::string_view add(std::string_view data) {
    if (!redactor_) return data;
    last_ = redactor_->add(data);
    return last_;
  }
  [[nodiscard]] std::string_view finish() {
    if (redactor_) last_ = redactor_->finish();
    return last_;
  }

 private:
  std::optional<secrets::Redactor> redactor_;
  std::string last_;
};

// One of the command's own streams.
struct Sink {
  int fd;
  Filter filter;
  bool broken = false;

  // False: a reader of ours is gone.
  [[nodiscard]] bool write(std::string_view data, const Wake& abandoned) {
    if (broken || data.empty()) return true;
    const auto written = write_all_until(fd, data, abandoned.fd());
    if (written) return true;
    broken = true;
    if (written.error().code == ErrorCode::timed_out) return true;
    if (written.error().os_error != EPIPE) complain(written.error().message);
    return false;
  }
};

// Keeps what fits; whether all did.
bool keep(std::string& kept, std::string_view data, std::size_t most) {
  const std::size_t room = most - std::min(most, kept.size());
  kept += data.substr(0, room);
  return data.size() <= room;
}

void add_to(OutputLog* log, const Event& event, const Wake& abandoned) {
  if (log != nullptr) log->add(event, abandoned.fd());
}

void finish(OutputLog* log) {
  if (log != nullptr) log->finish();
}

// A cut through the middle of a character must not make text look like binary data.
void drop_cut_character(std::string& text) {
  constexpr std::size_t kLongestPart = 3;
  for (std::size_t part = 1; part <= std::min(kLongestPart, text.size()); ++part) {
    if (base::is_utf8(std::string_view(text).substr(0, text.size() - part))) {
      text.resize(text.size() - part);
      return;
    }
  }
}

}  // namespace

void log_output(EventStream events, const Wake& abandoned, OutputLog& log) {
  for (const Event& event : events) log.add(event, abandoned.fd());
  log.finish();
}

void copy_output(EventStream events, Process& process, const Wake& abandoned,
                 const OutputTaps& taps) {
  Sink out{.fd = STDOUT_FILENO, .filter = Filter(taps.redacted)};
  Sink err{.fd = STDERR_FILENO, .filter = Filter(taps.redacted)};
  for (const Event& event : events) {
    if (event.kind == Event::Kind::exit) continue;
    add_to(taps.log, event, abandoned);
    Sink& sink = event.kind == Event::Kind::out ? out : err;
    if (!sink.write(sink.filter.add(event.data.view()), abandoned)) (void)process.signal(SIGPIPE);
  }
  for (Sink* const sink : {&out, &err}) (void)sink->write(sink->filter.finish(), abandoned);
  finish(taps.log);
}

void Capture::add(Event::Kind kind, std::string_view data) {
  if (kind == Event::Kind::out) all_out_ = keep(kept_.out, data, most_) && all_out_;
  if (kind == Event::Kind::err) all_err_ = keep(kept_.err, data, most_) && all_err_;
}

Captured Capture::finish() {
  if (!all_out_ && !base::is_utf8(kept_.out)) drop_cut_character(kept_.out);
  if (!all_err_ && !base::is_utf8(kept_.err)) drop_cut_character(kept_.err);
  kept_.truncated = !all_out_ || !all_err_;
  return std::move(kept_);
}

Captured capture_output(EventStream events, std::size_t most, const Wake& abandoned,
                        const OutputTaps& taps) {
  Capture captured(most);
  Filter out(taps.redacted);
  Filter err(taps.redacted);
  for (const Event& event : events) {
    add_to(taps.log, event, abandoned);
    if (event.kind == Event::Kind::exit) continue;
    Filter& filter = event.kind == Event::Kind::out ? out : err;
    captured.add(event.kind, filter.add(event.data.view()));
  }
  captured.add(Event::Kind::out, out.finish());
  captured.add(Event::Kind::err, err.finish());
  finish(taps.log);
  return captured.finish();
}

}  // namespace cordon::app
