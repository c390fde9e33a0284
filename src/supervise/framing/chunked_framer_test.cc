#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervise/framing/collect_frames.h"

namespace cordon::supervise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Framing chunks_of(std::uint32_t size) { return {.mode = OutputMode::chunked, .chunk_size = size}; }

TEST(ChunkedFramer, GivesExactChunksHoweverTheBytesArrive) {
  for (std::size_t block = 1; block <= 11; ++block) {
    for (std::size_t max_frames = 1; max_frames <= 3; ++max_frames) {
      EXPECT_THAT(collect_frames(chunks_of(4), "0123456789", block, max_frames),
                  ElementsAre(Frame{"0123"}, Frame{"4567"}, Frame{"89"}));
    }
  }
}

TEST(ChunkedFramer, GivesNoEmptyTail) {
  EXPECT_THAT(collect_frames(chunks_of(2), "abcd"), ElementsAre(Frame{"ab"}, Frame{"cd"}));
  EXPECT_THAT(collect_frames(chunks_of(2), ""), IsEmpty());
}

TEST(ChunkedFramer, SharesTheMemoryOfABlockThatHoldsAWholeChunk) {
  const auto framer = make_framer(chunks_of(2));
  const Bytes block(std::string_view("abcde"));
  std::vector<Event> out;
  EXPECT_EQ(framer->feed(block, kNoLimit, out), 5);
  ASSERT_EQ(out.size(), 2);
  EXPECT_EQ(out[1].data.view().data(), block.view().data() + 2);
}

TEST(ChunkedFramer, StopsAtMaxFrames) {
  const auto framer = make_framer(chunks_of(2));
  const Bytes block(std::string_view("abcde"));
  std::vector<Event> out;
  EXPECT_EQ(framer->feed(block, 0, out), 0);
  EXPECT_EQ(framer->feed(block, 1, out), 2);
}

TEST(ChunkedFramer, TakesNoMemoryAheadForAHugeChunk) {
  EXPECT_THAT(collect_frames(chunks_of(0xFFFFFFFF), "abc", 1), ElementsAre(Frame{"abc"}));
}

}  // namespace
}  // namespace cordon::supervise
