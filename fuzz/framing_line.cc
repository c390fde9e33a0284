// Line mode: the frames, joined with newlines, are the text with "\r\n" made "\n".
#include <algorithm>

#include "framing_case.h"

using namespace cordon;

namespace {

std::string with_plain_newlines(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) != "\r\n") plain += text[i];
  }
  if (!text.empty() && text.back() != '\n') plain += '\n';  // the last line needs no terminator
  return plain;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz::read_case(OutputMode::line, data, size);
  const std::size_t max_frame = std::max(input.framing.max_frame, 1U);
  std::string joined;
  bool within_line = false;
  for (const auto& frame : fuzz::frames_of(input)) {
    fuzz::check(frame.data.size() <= max_frame, "no frame is longer than max_frame");
    fuzz::check(!frame.partial || frame.data.size() == max_frame, "parts are of max_frame bytes");
    fuzz::check(!within_line || !frame.data.empty(), "the last part is not empty");
    fuzz::check(!frame.invalid, "lines are not invalid");
    joined += frame.data;
    if (!frame.partial) joined += '\n';
    within_line = frame.partial;
  }
  fuzz::check(!within_line, "the last part is final");
  fuzz::check(joined == with_plain_newlines(input.text), "the frames are the text");
  fuzz::check_memory(input, max_frame);
  return 0;
}
