// Raw mode loses and adds nothing.
#include "framing_case.h"

using namespace cordon;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz::read_case(OutputMode::raw, data, size);
  std::string joined;
  for (const auto& frame : supervise::collect_frames(input.framing, input.text,
                                                     fuzz::Blocks(input.seed), input.max_frames)) {
    fuzz::check(!frame.data.empty() && !frame.partial && !frame.invalid, "a frame is a block");
    joined += frame.data;
  }
  fuzz::check(joined == input.text, "the frames are the text");
  fuzz::check_memory(input, 0);
  return 0;
}
