// What becomes of a program's output when the command reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cordon/events.h"
#include "cordon/outcome.h"
#include "cordon/process.h"
#include "output_log.h"
#include "secrets/patterns.h"
#include "wake.h"

namespace cordon::app {

// Values that are taken out of the output; null: none.
using Redacted = std::shared_ptr<const secrets::SecretPatterns>;

// What else happens to output on its way.
struct OutputTaps {
  Redacted redacted{};
  OutputLog* log = nullptr;  // gets all of it, too
};

// Copies all output to the command's own stdout and stderr, until the program's end. A reader of
// ours that is gone is, to the program, a broken pipe: it gets SIGPIPE. Once `abandoned` is set,
// output that cannot be written at once is dropped.
void copy_output(EventStream events, Process& process, const Wake& abandoned,
                 const OutputTaps& taps);

// Reads all output until the program's end, for `log` alone.
void log_output(EventStream events, const Wake& abandoned, OutputLog& log);

struct Captured {
  std::string out;
  std::string err;
  bool truncated = false;   // there was more
  std::uint64_t bytes = 0;  // that the process has not counted
};
// Keeps the first `most` bytes of each stream. Text that is cut stays text.
class Capture {
 public:
  explicit Capture(std::size_t most) : most_(most) {}
  void add(Event::Kind kind, std::string_view data);
  [[nodiscard]] Captured finish();

 private:
  std::size_t most_;
  Captured kept_{};
  bool all_out_ = true;
  bool all_err_ = true;
};
// Reads all output until the program's end and keeps the first `most` bytes of each stream.
[[nodiscard]] Captured capture_output(EventStream events, std::size_t most, const Wake& abandoned,
                                      const OutputTaps& taps);

}  // namespace cordon::app
