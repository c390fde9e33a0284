// What the four framing fuzzers share: the first bytes of the input choose limits and blocks, the
// rest is the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "supervise/framing/collect_frames.h"

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#define CORDON_COUNTS_MEMORY 1
#else
#define CORDON_COUNTS_MEMORY 0
#endif

// libFuzzer's entry, declared here for -Wmissing-prototypes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace cordon::fuzz {

// Ends the fuzzer with a message; unlike assert, in every build.
inline void check(bool holds, const char* what) {
  if (holds) return;
  static_cast<void>(std::fprintf(stderr, "broken: %s\n", what));
  std::abort();
}

struct Case {
  Framing framing{};
  std::size_t max_frames = 1;
  std::uint32_t seed = 0;  // of the blocks' sizes
  std::string_view text{};
};

inline Case read_case(OutputMode mode, const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHeader = 4;
  if (size < kHeader) return {.framing = {.mode = mode}};
  const std::uint32_t limit = data[0] < 128 ? data[0] % 32 : data[0] * 16U;  // 0 … 31 or 2 … 4 KiB
  return {.framing = {.mode = mode,
                      .chunk_size = limit,
                      .max_frame = limit,
                      .max_depth = static_cast<std::uint16_t>(data[1] % 8)},
          .max_frames = data[2] % 4U + 1U,
          .seed = data[3],
          .text = {reinterpret_cast<const char*>(data) + kHeader, size - kHeader}};
}

// Sizes of blocks: always 1 for seed 0, otherwise mostly small.
class Blocks {
 public:
  explicit Blocks(std::uint32_t seed) : seed_(seed), state_(seed) {}
  std::size_t operator()() {
    if (seed_ == 0) return 1;
    state_ = state_ * 1664525U + 1013904223U;
    return (state_ >> 24) % (1U + seed_ % 64U) + 1U;
  }

 private:
  std::uint32_t seed_;
  std::uint32_t state_;
};

// The frames, after checking that they do not depend on blocks and max_frames.
inline std::vector<supervise::Frame> frames_of(const Case& input) {
  using supervise::collect_frames;
  auto frames = collect_frames(input.framing, input.text);
  check(frames == collect_frames(input.framing, input.text, Blocks(input.seed), input.max_frames),
        "frames do not depend on blocks or max_frames");
  check(frames == collect_frames(input.framing, input.text, supervise::kNoLimit, input.max_frames),
        "frames do not depend on max_frames");
  return frames;
}

// A framer whose frames are dropped at once keeps little memory.
inline void check_memory([[maybe_unused]] const Case& input, [[maybe_unused]] std::size_t limit) {
#if CORDON_COUNTS_MEMORY
  constexpr std::size_t kFixed = 1024;  // the framer itself, empty buffers
  std::vector<Event> out;
  out.reserve(8);
  Blocks next(input.seed);
  const std::size_t before = __sanitizer_get_current_allocated_bytes();
  const auto framer = supervise::make_framer(input.framing);
  for (std::string_view text = input.text; !text.empty();) {
    const std::string_view piece = text.substr(0, next());
    text.remove_prefix(piece.size());
    for (Bytes block(piece); !block.empty();) {
      block = block.slice(framer->feed(block, input.max_frames, out));
      out.clear();
    }
    const std::size_t kept = __sanitizer_get_current_allocated_bytes() - before;
    check(kept <= kFixed + 4 * limit, "memory is bounded");
  }
#endif
}

}  // namespace cordon::fuzz
