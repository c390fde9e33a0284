#include "mcp_output.h"

#include <unistd.h>

#include <string>
#include <string_view>

#include "base/printable.h"
#include "concat.h"
#include "mcp/message.h"
#include "message.h"
#include "write_all.h"

namespace cordon::app {
namespace {

// Of a line that is no message, so much is shown.
constexpr std::size_t kShown = 200;
// A server that writes nothing but noise must not fill its client's log.
constexpr int kMostShown = 100;

class Wire {
 public:
  Wire(RunControl& control, const Wake& abandoned) : control_(control), abandoned_(abandoned) {}

  void take(const Event& event) {
    const std::string_view line = event.data.view();
    if (event.partial) {
      if (!in_long_line_) refuse(line, "longer than a message may be");
      in_long_line_ = true;
      return;
    }
    if (in_long_line_) {
      in_long_line_ = false;  // this was its end
      return;
    }
    if (line.empty()) return;
    const mcp::MessageLimits limits{.json = {.max_bytes = kLongestMessage},
                                    .max_batch = kMostInBatch};
    const auto parsed = mcp::parse(line, limits);
    if (!parsed) return refuse(line, parsed.error().message);
    for (const auto& message : parsed->messages) {
      if (!message) return refuse(line, message.error().message);
    }
    send(line);
  }

  void finish() const {
    if (refused_ > kMostShown) {
      complain(concat(std::to_string(refused_ - kMostShown),
                      " more lines of the server's stdout were no messages"));
    }
  }

 private:
  static constexpr std::size_t kMostInBatch = 1000;

  void send(std::string_view line) {
    if (broken_) return;
    // One write: a client that reads between two would have to wait.
    text_.assign(line);
    text_ += '\n';
    const auto written = write_all_until(STDOUT_FILENO, text_, abandoned_.fd());
    if (text_.capacity() > kKept) std::string().swap(text_);
    if (written) return;
    broken_ = true;
    control_.cancel();  // nobody is there to hear anything
  }

  void refuse(std::string_view line, std::string_view why) {
    if (++refused_ > kMostShown) return;
    complain(concat("not a message, so the client does not get it (", why, "): ",
                    base::printable(line.substr(0, kShown)), line.size() > kShown ? "…" : ""));
  }

  static constexpr std::size_t kKept = std::size_t{1} << 16;

  RunControl& control_;
  const Wake& abandoned_;
  std::string text_;
  int refused_ = 0;
  bool in_long_line_ = false;
  bool broken_ = false;
};

}  // namespace

Output message_lines() {
  return Output::events({.mode = OutputMode::line, .max_frame = kLongestMessage});
}

void relay_messages(EventStream events, RunControl& control, const Wake& abandoned,
                    const OutputTaps& taps) {
  Wire wire(control, abandoned);
  Event line_end;  // which the lines come without
  line_end.kind = Event::Kind::out;
  line_end.data = Bytes(std::string_view("\n"));
  for (const Event& event : events) {
    if (event.kind == Event::Kind::exit) continue;
    if (taps.log != nullptr) taps.log->add(event, abandoned.fd());
    if (event.kind == Event::Kind::out) {
      if (taps.log != nullptr && !event.partial) taps.log->add(line_end, abandoned.fd());
      wire.take(event);
    } else {
      // As with every complaint: a stderr that cannot be written to is not our problem.
      (void)write_all_until(STDERR_FILENO, event.data.view(), abandoned.fd());
    }
  }
  if (taps.log != nullptr) taps.log->finish();
  wire.finish();
}

}  // namespace cordon::app
