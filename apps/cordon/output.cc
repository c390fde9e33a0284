#include "output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "message.h"
#include "write_all.h"

namespace cordon::app {
namespace {

// One of the command's own streams.
struct Sink {
  int fd;
  bool broken = false;
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

void log_output(EventStream events, const Wake& abandoned, OutputLog* log) {
  for (const Event& event : events) add_to(log, event, abandoned);
  finish(log);
}

void copy_output(EventStream events, Process& process, const Wake& abandoned, OutputLog* log) {
  Sink out{STDOUT_FILENO};
  Sink err{STDERR_FILENO};
  for (const Event& event : events) {
    if (event.kind == Event::Kind::exit) continue;
    add_to(log, event, abandoned);
    Sink& sink = event.kind == Event::Kind::out ? out : err;
    if (sink.broken) continue;
    const auto written = write_all_until(sink.fd, event.data.view(), abandoned.fd());
    if (written) continue;
    sink.broken = true;
    if (written.error().code == ErrorCode::timed_out) continue;
    if (written.error().os_error != EPIPE) complain(written.error().message);
    (void)process.signal(SIGPIPE);
  }
  finish(log);
}

Captured capture_output(EventStream events, std::size_t most, const Wake& abandoned,
                        OutputLog* log) {
  Captured captured;
  bool all_out = true;
  bool all_err = true;
  for (const Event& event : events) {
    add_to(log, event, abandoned);
    const std::string_view data = event.data.view();
    if (event.kind == Event::Kind::out) all_out = keep(captured.out, data, most) && all_out;
    if (event.kind == Event::Kind::err) all_err = keep(captured.err, data, most) && all_err;
  }
  finish(log);
  if (!all_out && !base::is_utf8(captured.out)) drop_cut_character(captured.out);
  if (!all_err && !base::is_utf8(captured.err)) drop_cut_character(captured.err);
  captured.truncated = !all_out || !all_err;
  return captured;
}

}  // namespace cordon::app
