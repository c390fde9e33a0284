// Line mode: one frame a line, without its "\n" or "\r\n". The bytes are never decoded.
//
// A lone "\r" is content; an empty line is an empty frame; the last line needs no terminator. A
// line longer than max_frame comes in parts, see line_assembler.h. A line that lies within one
// block shares its memory; one that spans blocks has memory of its own.
#pragma once

#include "supervise/framing/framer.h"
#include "supervise/framing/line_assembler.h"

namespace cordon::supervise {

class LineFramer final : public Framer {
 public:
  explicit LineFramer(std::size_t max_frame)
      : max_frame_(max_frame ? max_frame : 1), spanning_(max_frame_, /*invalid=*/false) {}

  [[nodiscard]] std::size_t feed(const Bytes& block, std::size_t max_frames,
                                 std::vector<Event>& out) override;
  void finish(std::vector<Event>& out) override;

 private:
  std::size_t max_frame_;
  LineAssembler spanning_;  // the line that began in an earlier block, if any
};

}  // namespace cordon::supervise
