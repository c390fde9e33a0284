#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervise/framing/collect_frames.h"

namespace cordon::supervise {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

Framing lines(std::uint32_t max_frame = 1024) {
  return {.mode = OutputMode::line, .max_frame = max_frame};
}

Frame part(std::string data) { return {.data = std::move(data), .partial = true}; }

// Checks that the frames are these for every size of block and every max_frames.
void expect_frames(const Framing& framing, std::string_view text,
                   const std::vector<Frame>& expected) {
  for (std::size_t block = 1; block <= text.size() + 1; ++block) {
    for (std::size_t max_frames = 1; max_frames <= 4; ++max_frames) {
      EXPECT_THAT(collect_frames(framing, text, block, max_frames), ElementsAreArray(expected))
          << "blocks of " << block << ", max_frames " << max_frames;
    }
  }
}

TEST(LineFramer, StripsBothTerminators) {
  expect_frames(lines(), "unix\ndos\r\nlast", {{"unix"}, {"dos"}, {"last"}});
}

TEST(LineFramer, KeepsALoneCarriageReturn) {
  expect_frames(lines(), "a\rb\n\r\r\n\r", {{"a\rb"}, {"\r"}, {"\r"}});
}

TEST(LineFramer, GivesEmptyLines) {
  expect_frames(lines(), "\n\r\n\na", {{""}, {""}, {""}, {"a"}});
}

TEST(LineFramer, GivesNothingAfterTheLastNewline) {
  expect_frames(lines(), "a\n", {{"a"}});
  EXPECT_THAT(collect_frames(lines(), ""), IsEmpty());
}

TEST(LineFramer, CutsALongLineIntoParts) {
  expect_frames(lines(3), "abcdefgh\nij\n", {part("abc"), part("def"), {"gh"}, {"ij"}});
}

TEST(LineFramer, MarksTheLastFullPartAsFinal) {
  expect_frames(lines(3), "abcdef\n", {part("abc"), {"def"}});
  expect_frames(lines(3), "abcdef\r\n", {part("abc"), {"def"}});
  expect_frames(lines(3), "abcdef", {part("abc"), {"def"}});
}

TEST(LineFramer, CutsBeforeACarriageReturnThatIsContent) {
  expect_frames(lines(3), "abc\rd\n", {part("abc"), {"\rd"}});
  expect_frames(lines(3), "abc\r\r\n", {part("abc"), {"\r"}});
  expect_frames(lines(3), "abc\r", {part("abc"), {"\r"}});
  expect_frames(lines(1), "\r\r\n\r\r", {{"\r"}, part("\r"), {"\r"}});
}

TEST(LineFramer, TreatsBytesAsBytes) {
  const std::string text("\0\xFF\0\n\0", 5);
  expect_frames(lines(), text, {{std::string("\0\xFF\0", 3)}, {std::string("\0", 1)}});
}

TEST(LineFramer, SharesTheMemoryOfABlockThatHoldsTheLine) {
  const auto framer = make_framer(lines(4));
  const Bytes block(std::string_view("ab\ncdefgh\ni"));
  std::vector<Event> out;
  EXPECT_EQ(framer->feed(block, kNoLimit, out), block.size());
  ASSERT_EQ(out.size(), 3);
  EXPECT_EQ(out[0].data.view().data(), block.view().data());
  EXPECT_EQ(out[1].data.view().data(), block.view().data() + 3);
  EXPECT_EQ(out[2].data.view().data(), block.view().data() + 7);
}

TEST(LineFramer, LeavesTheRestOfTheBlockAtMaxFrames) {
  const auto framer = make_framer(lines());
  const Bytes block(std::string_view("a\nb\nc"));
  std::vector<Event> out;
  EXPECT_EQ(framer->feed(block, 0, out), 0);
  EXPECT_EQ(framer->feed(block, 2, out), 4);
  EXPECT_EQ(out.size(), 2);
}

TEST(LineFramer, ReadsMegabytesOfOneByteBlocksInLinearTime) {
  const std::string text(std::size_t{1024} * 1024, '\0');
  const auto frames = collect_frames(lines(256 * 1024), text, 1);
  EXPECT_EQ(frames.size(), 4);
}

TEST(LineFramer, ReadsALongLineFrameByFrameInLinearTime) {
  const std::string text(std::size_t{1024} * 1024, 'x');
  const auto frames = collect_frames(lines(16), text, kNoLimit, 1);
  EXPECT_EQ(frames.size(), text.size() / 16);
}

}  // namespace
}  // namespace cordon::supervise
