#include "supervise/log_capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace cordon::supervise {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

struct Log {
  std::vector<std::string> lines;
  LogCapture::Sink sink() {
    return [this](std::string_view line) { lines.emplace_back(line); };
  }
};

TEST(LogCapture, GivesEachLineItsName) {
  Log log;
  LogCapture capture("stdout", log.sink());
  capture.add("one\ntwo\r\n\n");
  EXPECT_THAT(log.lines, ElementsAre("[stdout] one\n", "[stdout] two\n", "[stdout] \n"));
}

TEST(LogCapture, KeepsTheRemainderUntilItsLineEnds) {
  Log log;
  LogCapture capture("stderr", log.sink());
  for (const char* const part : {"a", "b", "c\nd", "e"}) capture.add(part);
  EXPECT_THAT(log.lines, ElementsAre("[stderr] abc\n"));
  capture.finish();
  EXPECT_THAT(log.lines, ElementsAre("[stderr] abc\n", "[stderr] de\n"));
  capture.finish();
  EXPECT_EQ(log.lines.size(), 2U);
}

TEST(LogCapture, IsTheSameHoweverTheBytesCome) {
  const std::string text = "first\n\nthird line\r\nlast";
  Log whole;
  LogCapture at_once("x", whole.sink());
  at_once.add(text);
  at_once.finish();
  Log single;
  LogCapture bytewise("x", single.sink());
  for (const char c : text) bytewise.add({&c, 1});
  bytewise.finish();
  EXPECT_EQ(whole.lines, single.lines);
}

TEST(LogCapture, CutsLinesThatAreTooLong) {
  Log log;
  LogCapture capture("x", log.sink(), {}, 4);
  capture.add("123456789\n1234\n");
  EXPECT_THAT(log.lines, ElementsAre("[x] 1234\n", "[x] 5678\n", "[x] 9\n", "[x] 1234\n"));
}

TEST(LogCapture, LetsNoLineCommandATerminalOrPretendToBeAnother) {
  Log log;
  LogCapture capture("a\nb", log.sink());
  capture.add("\x1b[2Jclear\rover\tthere\n");
  EXPECT_THAT(log.lines, ElementsAre("[a\\nb] \\x1b[2Jclear\\x0dover\tthere\n"));
}

TEST(LogCapture, PassesTextThroughItsFilter) {
  Log log;
  std::string held;
  // Holds everything back until the end, as a filter may.
  LogCapture capture("x", log.sink(),
                     {.add =
                          [&](std::string_view text) {
                            held += text;
                            return std::string();
                          },
                      .finish = [&] { return "filtered " + held; }});
  capture.add("a\n");
  capture.add("b");
  EXPECT_THAT(log.lines, IsEmpty());
  capture.finish();
  EXPECT_THAT(log.lines, ElementsAre("[x] filtered a\n", "[x] b\n"));
}

TEST(LogCapture, KeepsLinesWholeForManyThreads) {
  Log log;
  LogCapture capture("x", log.sink());
  const auto write = [&] {
    for (int i = 0; i < 1000; ++i) capture.add("a whole line\n");
  };
  std::thread other(write);
  write();
  other.join();
  EXPECT_EQ(log.lines.size(), 2000U);
  EXPECT_THAT(log.lines, Each("[x] a whole line\n"));
}

}  // namespace
}  // namespace cordon::supervise
