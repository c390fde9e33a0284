// JSON mode: one frame a JSON value, its exact text without the whitespace around it.
//
// Values may follow one another with or without whitespace ("{}{}", one a line, pretty-printed over
// many lines) and be of any type; see json_scanner.h for where a number or literal ends. What is
// not JSON, nested deeper than max_depth or longer than max_frame becomes an invalid frame: from
// the start of the offending value to the end of the line of the first byte that was wrong, without
// the line's terminator; in parts of max_frame if longer, as in line mode. The next line is read as
// JSON again. A value cut off by the end of the stream is one invalid frame.
//
// Frames have memory of their own: a small value must not keep a large block alive.
#pragma once

#include <string>

#include "supervise/framing/framer.h"
#include "supervise/framing/json_scanner.h"
#include "supervise/framing/line_assembler.h"

namespace cordon::supervise {

class JsonFramer final : public Framer {
 public:
  JsonFramer(std::size_t max_frame, std::size_t max_depth)
      : max_frame_(max_frame ? max_frame : 1),
        scanner_(max_depth),
        garbage_(max_frame_, /*invalid=*/true) {}

  [[nodiscard]] std::size_t feed(const Bytes& block, std::size_t max_frames,
                                 std::vector<Event>& out) override;
  void finish(std::vector<Event>& out) override;

 private:
  enum class Place : std::uint8_t { between_values, in_value, in_garbage };

  // Each takes bytes from the front of `rest`, emits at most one frame, returns how many it took.
  std::size_t skip_space(std::string_view rest);
  std::size_t take_value(std::string_view rest, std::vector<Event>& out);
  std::size_t take_garbage(std::string_view rest, std::vector<Event>& out);
  void end_value(std::string_view end, std::vector<Event>& out);

  std::size_t max_frame_;
  JsonScanner scanner_;
  LineAssembler garbage_;
  std::string text_;  // of the value that began in an earlier block; at most max_frame_
  Place place_ = Place::between_values;
};

}  // namespace cordon::supervise
