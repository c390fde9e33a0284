// For tests and fuzzers: runs a Framer over text cut into blocks, as a supervisor would.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "supervise/framing/framer.h"

namespace cordon::supervise {

struct Frame {
  std::string data{};
  bool partial = false;
  bool invalid = false;

  friend bool operator==(const Frame&, const Frame&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const Frame& frame) {
  return out << '"' << frame.data << '"' << (frame.partial ? " partial" : "")
             << (frame.invalid ? " invalid" : "");
}

inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// The frames of `text`. `block_size` gives the size of the next block, at least 1.
inline std::vector<Frame> collect_frames(const Framing& framing, std::string_view text,
                                         const std::function<std::size_t()>& block_size,
                                         std::size_t max_frames = kNoLimit) {
  const auto framer = make_framer(framing);
  std::vector<Frame> frames;
  std::vector<Event> out;
  const auto move_out = [&] {
    for (const Event& event : out) {
      frames.push_back(
          {.data = event.data.str(), .partial = event.partial, .invalid = event.invalid});
    }
    out.clear();
  };
  while (!text.empty()) {
    // Memory of its own for each block, freed at once: a frame that outlives it shows.
    const std::size_t size = std::min(block_size(), text.size());
    Bytes block(text.substr(0, size));
    text.remove_prefix(size);
    while (!block.empty()) {
      block = block.slice(framer->feed(block, max_frames, out));
      move_out();
    }
  }
  framer->finish(out);
  move_out();
  return frames;
}

inline std::vector<Frame> collect_frames(const Framing& framing, std::string_view text,
                                         std::size_t block_size = kNoLimit,
                                         std::size_t max_frames = kNoLimit) {
  return collect_frames(framing, text, [=] { return block_size; }, max_frames);
}

}  // namespace cordon::supervise
