// Chunked mode: exact sizes, nothing lost, whatever the blocks.
#include <algorithm>

#include "framing_case.h"

using namespace cordon;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz::read_case(OutputMode::chunked, data, size);
  const std::size_t chunk = std::max(input.framing.chunk_size, 1U);
  const auto frames = fuzz::frames_of(input);
  std::string joined;
  for (const auto& frame : frames) {
    const bool last = &frame == &frames.back();
    fuzz::check(
        last ? !frame.data.empty() && frame.data.size() <= chunk : frame.data.size() == chunk,
        "chunks have their size");
    fuzz::check(!frame.partial && !frame.invalid, "chunks are not marked");
    joined += frame.data;
  }
  fuzz::check(joined == input.text, "the frames are the text");
  fuzz::check_memory(input, chunk);
  return 0;
}
