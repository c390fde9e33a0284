#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervise/framing/collect_frames.h"

namespace cordon::supervise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RawFramer, GivesBlocksAsTheyArrive) {
  EXPECT_THAT(collect_frames({}, "ab\ncd", 3), ElementsAre(Frame{"ab\n"}, Frame{"cd"}));
}

TEST(RawFramer, GivesNothingForAnEmptyBlock) {
  const auto framer = make_framer({});
  std::vector<Event> out;
  EXPECT_EQ(framer->feed(Bytes(), kNoLimit, out), 0);
  framer->finish(out);
  EXPECT_THAT(out, IsEmpty());
}

TEST(RawFramer, SharesTheBlocksMemory) {
  const auto framer = make_framer({});
  const Bytes block(std::string_view("abc"));
  std::vector<Event> out;
  EXPECT_EQ(framer->feed(block, 1, out), 3);
  ASSERT_EQ(out.size(), 1);
  EXPECT_EQ(out[0].data.view().data(), block.view().data());
}

TEST(Bytes, SliceSharesMemoryAndStopsAtTheEnd) {
  const Bytes bytes(std::string_view("abcdef"));
  EXPECT_EQ(bytes.slice(2, 3).view(), "cde");
  EXPECT_EQ(bytes.slice(2).view().data(), bytes.view().data() + 2);
  EXPECT_EQ(bytes.slice(4, 100).view(), "ef");
  EXPECT_EQ(bytes.slice(7, 1).view(), "");
}

}  // namespace
}  // namespace cordon::supervise
