#include "audit/record.h"

#include <gtest/gtest.h>

#include "audit/head.h"
#include "audit/line_splitter.h"
#include "audit/time_text.h"

namespace cordon::audit {
namespace {

using namespace std::chrono_literals;

TEST(RecordLine, IsReadBackAsALink) {
  std::string hash;
  const std::string line =
      record_line({.operation = Operation::rotated}, {}, 7, WallTime{}, Sealer(), no_seal(), hash);
  ASSERT_TRUE(line.ends_with('\n'));
  const auto link = read_link(std::string_view(line).substr(0, line.size() - 1));
  ASSERT_TRUE(link);
  EXPECT_EQ(link->sequence, 7U);
  EXPECT_EQ(link->prev, no_seal());
  EXPECT_EQ(link->hash, hash);
  EXPECT_EQ(hash, Sealer().seal(link->sealed));
  EXPECT_TRUE(link->rotated);
  EXPECT_FALSE(link->keyed);
}

TEST(RecordLine, WithAKeyIsMarkedSo) {
  std::string hash;
  const Sealer key(std::string(32, 'k'));
  const std::string line = record_line({}, {}, 1, WallTime{}, key, no_seal(), hash);
  const auto link = read_link(std::string_view(line).substr(0, line.size() - 1));
  ASSERT_TRUE(link);
  EXPECT_TRUE(link->keyed);
  EXPECT_EQ(hash, key.seal(link->sealed));
  EXPECT_NE(hash, Sealer().seal(link->sealed));
}

TEST(ReadLink, RefusesWhatIsNoRecord) {
  for (const char* const text :
       {"", "{}", "\"}", "{\"sequence\":1}", R"({"sequence":1,"operation":"start","hash":""})"}) {
    EXPECT_FALSE(read_link(text)) << text;
  }
  std::string hash;
  const std::string line = record_line({}, {}, 1, WallTime{}, Sealer(), no_seal(), hash);
  for (std::size_t cut = 1; cut < line.size() - 1; ++cut) {
    EXPECT_FALSE(read_link(std::string_view(line).substr(0, cut)));
  }
}

TEST(HeadLine, HasOneLengthAndIsReadBack) {
  const Head head{.sequence = ~0ULL, .file = 12, .size = 99, .hash = no_seal(), .keyed = true};
  EXPECT_EQ(head_line(head).size(), head_length());
  EXPECT_EQ(head_line({}).size(), head_length());
  EXPECT_EQ(parse_head(head_line(head)), head);
  EXPECT_EQ(parse_head(head_line({})), Head{});
  const std::string line = head_line(head);
  EXPECT_FALSE(parse_head(line + " "));
  for (std::size_t cut = 0; cut < line.size(); ++cut) EXPECT_FALSE(parse_head(line.substr(0, cut)));
}

TEST(TimeText, IsUtcWithMicrosecondsAndIsReadBack) {
  const WallTime time =
      std::chrono::sys_days(std::chrono::year(2026) / 2 / 28) + 23h + 59min + 58s + 123456789ns;
  EXPECT_EQ(time_text(time), "2026-02-28T23:59:58.123456Z");
  EXPECT_EQ(parse_time("2026-02-28T23:59:58.123456789Z"), time);
  EXPECT_EQ(parse_time("2026-03-01T00:59:58.123456789+01:00"), time);
  EXPECT_EQ(parse_time("2026-02-28"),
            WallTime(std::chrono::sys_days(std::chrono::year(2026) / 2 / 28)));
  EXPECT_EQ(time_text(*parse_time("2026-02-28 10:00")), "2026-02-28T10:00:00.000000Z");
  EXPECT_EQ(time_text(WallTime(-1ns)), "1969-12-31T23:59:59.999999Z");
}

TEST(TimeText, WhatIsNoTimeIsRefused) {
  for (const char* const text : {"", "now", "2026", "2026-13-01", "2026-02-30", "2026-02-28T",
                                 "2026-02-28T24:00", "2026-02-28T10:00x", "2026-02-28T10:00:00.",
                                 "9999-01-01", "0001-01-01", "2026-02-28T10:00+1", "-026-02-28"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

TEST(LineSplitter, HandsOutLinesWhateverThePartsAre) {
  LineSplitter splitter;
  splitter.add("on");
  EXPECT_FALSE(splitter.next());
  splitter.add("e\ntwo\n\nthr");
  EXPECT_EQ(splitter.next()->text, "one");
  EXPECT_EQ(splitter.next()->text, "two");
  EXPECT_EQ(splitter.next()->text, "");
  EXPECT_FALSE(splitter.next());
  EXPECT_EQ(splitter.unfinished(), 3U);
}

TEST(LineSplitter, KeepsNoMoreThanALine) {
  LineSplitter splitter;
  std::size_t size = 0;
  for (int i = 0; i < 100; ++i) {
    splitter.add(std::string(kLongestLine, 'x'));
    size += kLongestLine;
    EXPECT_FALSE(splitter.next());
    EXPECT_EQ(splitter.unfinished(), size);
  }
  splitter.add("\nnext\n");
  const auto line = splitter.next();
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->too_long);
  EXPECT_EQ(line->size, size + 1);
  EXPECT_EQ(splitter.next()->text, "next");
}

}  // namespace
}  // namespace cordon::audit
