#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervise/framing/collect_frames.h"

namespace cordon::supervise {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::Field;

Framing json(std::uint32_t max_frame = 1024, std::uint16_t max_depth = 4) {
  return {.mode = OutputMode::json, .max_frame = max_frame, .max_depth = max_depth};
}

Frame bad(std::string data) { return {.data = std::move(data), .invalid = true}; }
Frame bad_part(std::string data) {
  return {.data = std::move(data), .partial = true, .invalid = true};
}

// Checks that the frames are these for every size of block and every max_frames.
void expect_frames(const Framing& framing, std::string_view text,
                   const std::vector<Frame>& expected) {
  for (std::size_t block = 1; block <= text.size() + 1; ++block) {
    for (std::size_t max_frames = 1; max_frames <= 3; ++max_frames) {
      EXPECT_THAT(collect_frames(framing, text, block, max_frames), ElementsAreArray(expected))
          << "blocks of " << block << ", max_frames " << max_frames;
    }
  }
}

TEST(JsonFramer, GivesOneFrameALine) {
  expect_frames(json(), "{\"a\":1}\n[2]\r\n\n\"x\"\n", {{"{\"a\":1}"}, {"[2]"}, {"\"x\""}});
}

TEST(JsonFramer, GivesValuesBackToBack) {
  expect_frames(json(), "{}{}[]\"a\"\"b\"{}",
                {{"{}"}, {"{}"}, {"[]"}, {"\"a\""}, {"\"b\""}, {"{}"}});
}

TEST(JsonFramer, KeepsTheExactTextOfAPrettyPrintedValue) {
  expect_frames(json(), " {\n  \"a\" : [ 1,\r\n\t2 ]\n} \n", {{"{\n  \"a\" : [ 1,\r\n\t2 ]\n}"}});
}

TEST(JsonFramer, EndsNumbersAndLiteralsAtSpaceNextValueOrEndOfStream) {
  expect_frames(
      json(), "1 2\n-0.5e+3{}true\"x\"null[false] 17",
      {{"1"}, {"2"}, {"-0.5e+3"}, {"{}"}, {"true"}, {"\"x\""}, {"null"}, {"[false]"}, {"17"}});
}

TEST(JsonFramer, RefusesANumberOrLiteralThatRunsIntoSomethingElse) {
  for (const auto* text :
       {"nullx", "truefalse", "01", "1,2", "2024-01-31 12:00", "1.5.2", "0x10"}) {
    expect_frames(json(), std::string(text) + " 3\n4", {bad(std::string(text) + " 3"), {"4"}});
  }
}

TEST(JsonFramer, TakesUpAgainAtTheLineAfterGarbage) {
  expect_frames(json(), "{\"a\":1}\nstarting up...\r\n{\"b\":2}\n",
                {{"{\"a\":1}"}, bad("starting up..."), {"{\"b\":2}"}});
  expect_frames(json(), "{} oops {}\n{}", {{"{}"}, bad("oops {}"), {"{}"}});
}

TEST(JsonFramer, CountsGarbageFromTheStartOfTheValue) {
  expect_frames(json(), "[1,\n 2,\n x, 3]\n4\n", {bad("[1,\n 2,\n x, 3]"), {"4"}});
  expect_frames(json(), "[1,\n]\n4\n", {bad("[1,\n]"), {"4"}});
}

TEST(JsonFramer, IsStrict) {
  for (const auto* text :
       {"[1,]",        "{\"a\":1,}", "// x", "[/**/]", "'a'", "{a:1}", "[1 2]", "{\"a\"}",
        "NaN",         "+1",         ".5",   "1.",     "-",   "1e",    "[01]",  "\"\\x\"",
        "\"\\u12g4\"", "\"\t\"",     "[}",   "{]",     "]",   ",",     ":",     "\xEF\xBB\xBF{}",
        "1e9999999999"}) {
    expect_frames(json(), std::string(text) + "\n1\n", {bad(text), {"1"}});
  }
}

TEST(JsonFramer, ChecksUtf8AndSurrogates) {
  for (const auto* text : {"\"\xC3\xA9\"", "\"\xE2\x82\xAC\"", "\"\xF0\x9F\x98\x80\"",
                           "\"\\uD83D\\uDE00\"", "\"\\u00e9\"", "\"\x7F\""}) {
    expect_frames(json(), text, {{text}});
  }
  for (const auto* text :
       {"\"\xFF\"", "\"\xC0\xAF\"", "\"\xE0\x80\xAF\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"",
        "\"\xE2\x82\"", "\"\x80\"", "\"\\uD83D\"", "\"\\uDE00\"", "\"\\uD83D\\u0041\""}) {
    expect_frames(json(), text, {bad(text)});
  }
}

// Boost.JSON's incremental parser notices these only with the bytes that follow.
TEST(JsonFramer, FindsTheLineOfACutOffCharacterWhateverTheBlocks) {
  expect_frames(json(), "\"\xF0\n1\n2\n3\n4", {bad("\"\xF0"), {"1"}, {"2"}, {"3"}, {"4"}});
  expect_frames(json(), "nu\nll\n\"\\u0\n1", {bad("nu"), bad("ll"), bad("\"\\u0"), {"1"}});
}

TEST(JsonFramer, RefusesTooDeepNesting) {
  expect_frames(json(), "[[[[]]]]", {{"[[[[]]]]"}});
  expect_frames(json(), "[[{\"a\":[[]]}]]\n1", {bad("[[{\"a\":[[]]}]]"), {"1"}});
  expect_frames(json(1024, 0), "1 []", {{"1"}, bad("[]")});
}

TEST(JsonFramer, RefusesTooLongValues) {
  expect_frames(json(4), "1234 [12] \"ab\"", {{"1234"}, {"[12]"}, {"\"ab\""}});
  expect_frames(json(4), "12345\n6", {bad_part("1234"), bad("5"), {"6"}});
  expect_frames(json(4), "[123]\n6", {bad_part("[123"), bad("]"), {"6"}});
  expect_frames(json(4), "[1,\n2]\n6", {bad_part("[1,\n"), bad("2]"), {"6"}});
  expect_frames(json(3), "[1,\n2]\n", {bad("[1,"), bad("2]")});
  expect_frames(json(4), "[1,\r\n2\n", {bad("[1,"), {"2"}});
  expect_frames(json(4), "123 \n", {{"123"}});
}

TEST(JsonFramer, CutsLongGarbageIntoParts) {
  expect_frames(json(3), "abcdefg\r\n1", {bad_part("abc"), bad_part("def"), bad("g"), {"1"}});
  expect_frames(json(3), "abcdef\r\n1", {bad_part("abc"), bad("def"), {"1"}});
  expect_frames(json(3), "abc\r", {bad_part("abc"), bad("\r")});
}

TEST(JsonFramer, MarksAValueCutOffByTheEndAsInvalid) {
  expect_frames(json(), "1\n{\"a\":", {{"1"}, bad("{\"a\":")});
  expect_frames(json(), "[1,\r\n", {bad("[1,")});
  expect_frames(json(), "\"abc ", {bad("\"abc ")});
  expect_frames(json(), "tru", {bad("tru")});
  expect_frames(json(), "1.", {bad("1.")});
}

TEST(JsonFramer, NeverKeepsTheBlockAlive) {
  const auto framer = make_framer(json());
  auto memory = std::make_shared<const std::string>("{}\noops\n[1");
  const std::weak_ptr<const std::string> watch = memory;
  Bytes block(memory, *memory);
  memory.reset();
  std::vector<Event> out;
  EXPECT_EQ(framer->feed(block, kNoLimit, out), block.size());
  block = {};
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(out.size(), 2);
}

TEST(JsonFramer, GivesAContainerAsSoonAsItCloses) {
  const auto framer = make_framer(json());
  std::vector<Event> out;
  EXPECT_EQ(framer->feed(Bytes(std::string_view("{\"id\":1}")), kNoLimit, out), 8);
  EXPECT_EQ(out.size(), 1);
}

TEST(JsonFramer, SurvivesHostileInput) {
  constexpr std::size_t kSize = std::size_t{512} * 1024;
  const Framing framing = json(64 * 1024, 0xFFFF);
  for (const auto* unit : {"[", "{\"a\":", "1", "-", "\\", "[[]", "\n", "[\n"}) {
    std::string text;
    while (text.size() < kSize) text += unit;
    for (const std::size_t block : {std::size_t{1}, kNoLimit}) {
      const auto frames = collect_frames(framing, text, block, 1);
      EXPECT_THAT(frames, Each(Field(&Frame::invalid, true))) << unit;
    }
  }
}

}  // namespace
}  // namespace cordon::supervise
