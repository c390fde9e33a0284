#include "supervise/framing/raw_framer.h"

namespace cordon::supervise {

std::size_t RawFramer::feed(const Bytes& block, std::size_t max_frames, std::vector<Event>& out) {
  if (block.empty() || max_frames == 0) return 0;
  out.emplace_back().data = block;
  return block.size();
}

void RawFramer::finish(std::vector<Event>& /*out*/) {}

}  // namespace cordon::supervise
