// Raw mode: every block is a frame, as it arrives. Nothing is copied or kept.
#pragma once

#include "supervise/framing/framer.h"

namespace cordon::supervise {

class RawFramer final : public Framer {
 public:
  [[nodiscard]] std::size_t feed(const Bytes& block, std::size_t max_frames,
                                 std::vector<Event>& out) override;
  void finish(std::vector<Event>& out) override;
};

}  // namespace cordon::supervise
