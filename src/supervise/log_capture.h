// Log capture: a program's output as lines of a log (C46), "[stdout] line".
//
// Lines come out whole, however the bytes came in: what is left of one is kept until its end comes,
// or finish(). Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "supervise/framing/line_assembler.h"

namespace cordon::supervise {

// Changes text on its way, e.g. takes secrets out of it. What it holds back in add(), because more
// is needed to decide, it gives out later, at the latest in finish(). Without functions: no change.
struct TextFilter {
  std::function<std::string(std::string_view)> add{};
  std::function<std::string()> finish{};
};

class LogCapture {
 public:
  // Called with one line, "[name] text\n", from add() and finish(); never at the same time twice.
  using Sink = std::function<void(std::string_view line)>;

  static constexpr std::size_t kLongestLine = std::size_t{64} * 1024;

  // A line of more than `longest` bytes comes in parts, each a line of the log.
  LogCapture(std::string_view name, Sink sink, TextFilter filter = {},
             std::size_t longest = kLongestLine);

  void add(std::string_view bytes);
  // What is left, as a last line. Nothing may be added afterwards.
  void finish();

 private:
  void assemble(std::string_view text);
  void hand_out();

  const std::string prefix_;
  const Sink sink_;
  const TextFilter filter_;
  std::mutex mutex_;
  LineAssembler line_;
  std::vector<Event> frames_;  // emptied by every call
};

}  // namespace cordon::supervise
