// Puts together a line that arrives in pieces: line mode's lines that span blocks, and json mode's
// garbage.
//
// The rules are line mode's: "\n" and "\r\n" end a line and are left out; a lone "\r" is content; a
// line longer than max_frame comes in parts of exactly max_frame bytes marked partial, the last
// part (which is never empty) not. A part is therefore given out once it is certain that content
// follows it. Holds at most max_frame + 1 bytes. Frames have memory of their own, just what they
// need.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/events.h"

namespace cordon::supervise {

class LineAssembler {
 public:
  // `invalid` marks every frame.
  LineAssembler(std::size_t max_frame, bool invalid) : max_frame_(max_frame), invalid_(invalid) {}

  [[nodiscard]] bool empty() const { return text_.empty(); }
  // What the line starts with: at most max_frame bytes, one more if the last is a '\r'. Newlines in
  // it are content.
  void start(std::string_view before, std::string_view text);

  struct Step {
    std::size_t consumed = 0;
    bool emitted = false;   // one frame
    bool line_end = false;  // and it was the line's last
  };
  // Takes bytes from the front of `rest` until a frame is complete or all are taken.
  [[nodiscard]] Step add(std::string_view rest, std::vector<Event>& out);
  // The line ends without a terminator. Nothing comes if it is empty.
  void finish(std::vector<Event>& out);

 private:
  // Gives out the first `length` bytes and forgets them.
  void emit(std::size_t length, bool partial, std::vector<Event>& out);

  std::size_t max_frame_;
  bool invalid_;
  std::string text_;  // max_frame_ + 1 bytes only if the last is a '\r' that may be a terminator's
};

}  // namespace cordon::supervise
