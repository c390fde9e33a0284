// What a pump makes of the output that it reads.
#include "supervise/output_pump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/write.h"
#include "supervise/output_pump_test_support.h"

namespace cordon::supervise {
namespace {

using base::Fd;
using testing::ElementsAre;
using namespace std::chrono_literals;
using Filled = OutputPump::Filled;

Framing lines() {
  Framing framing;
  framing.mode = OutputMode::line;
  return framing;
}

int in_pipe(int fd) {
  int count = 0;
  ::ioctl(fd, FIONREAD, &count);
  return count;
}

std::string numbered_lines(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += std::to_string(i) + "\n";
  return all;
}

TEST(OutputPumpTest, DoesNotWaitForOutput) {
  OutputPump pump(kPlenty);
  const Fd writer = connect(pump, kOut);
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::waiting);
  EXPECT_TRUE(pump.queue().empty());
  EXPECT_FALSE(pump.ended(kOut));
}

TEST(OutputPumpTest, TellsTheStreamsApart) {
  OutputPump pump(kPlenty);
  const Fd out = connect(pump, kOut);
  const Fd err = connect(pump, kErr);
  write_all(out, "to stdout");
  write_all(err, "to stderr");
  EXPECT_EQ(pump.fill(kErr, 1ms, false), Filled::waiting);
  EXPECT_EQ(pump.fill(kOut, 2ms, false), Filled::waiting);
  const auto events = take(pump);
  EXPECT_THAT(texts(events), ElementsAre("to stderr", "to stdout"));
  EXPECT_EQ(events[0].kind, Event::Kind::err);
  EXPECT_EQ(events[0].at, 1ms);
  EXPECT_EQ(events[1].kind, Event::Kind::out);
  EXPECT_EQ(events[1].at, 2ms);
  EXPECT_EQ(pump.bytes(), 18U);
  EXPECT_FALSE(pump.truncated());
}

TEST(OutputPumpTest, EndOfFileHandsOutTheRest) {
  OutputPump pump(kPlenty);
  Fd writer = connect(pump, kOut, lines());
  write_all(writer, "one\ntwo");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::waiting);
  EXPECT_THAT(texts(take(pump)), ElementsAre("one"));
  writer.reset();
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::ended);
  EXPECT_THAT(texts(take(pump)), ElementsAre("two"));
  EXPECT_TRUE(pump.ended(kOut));
  EXPECT_EQ(pump.fd(kOut), -1);
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::ended) << "and stays so";
}

TEST(OutputPumpTest, StreamThatWasNotOpenedHasEnded) {
  OutputPump pump(kPlenty);
  EXPECT_TRUE(pump.ended(kErr));
  EXPECT_EQ(pump.fd(kErr), -1);
  EXPECT_EQ(pump.fill(kErr, 0ms, false), Filled::ended);
  pump.finish(0ms, false);
  EXPECT_TRUE(pump.queue().empty());
}

TEST(OutputPumpTest, ClosesAnEndedStreamOnlyWhenAsked) {
  OutputPump pump(kPlenty);
  const Fd writer = connect(pump, kOut);
  pump.finish(0ms, false);
  EXPECT_EQ(base::write_without_sigpipe(writer.get(), "x"), 1) << "the reader may be polled yet";
  pump.close_ended();
  EXPECT_EQ(base::write_without_sigpipe(writer.get(), "x"), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST(OutputPumpTest, FullQueueLeavesTheRestInThePipe) {  // C129
  OutputPump pump(1);
  const Fd writer = connect(pump, kOut);
  write_all(writer, "first");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::full);
  write_all(writer, "second");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::full);
  write_all(writer, "third");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::full);
  EXPECT_EQ(in_pipe(pump.fd(kOut)), 5) << "one block may wait outside the queue, no more";
  std::string all;
  while (all.size() < 16) {
    const auto events = take(pump);
    ASSERT_EQ(events.size(), 1U);
    all += joined(events);
    (void)pump.fill(kOut, 0ms, false);
  }
  EXPECT_EQ(all, "firstsecondthird");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::waiting);
}

TEST(OutputPumpTest, BlockOfManyLinesIsNotLostWhenTheQueueFills) {
  constexpr int kLines = 2000;
  OutputPump pump(1);
  Fd writer = connect(pump, kOut, lines());
  write_all(writer, numbered_lines(kLines));
  writer.reset();
  int next = 0;
  for (bool ended = false; !ended;) {
    const Filled filled = pump.fill(kOut, 0ms, false);
    ASSERT_NE(filled, Filled::waiting);
    ended = filled == Filled::ended;
    const auto events = take(pump);
    EXPECT_LT(events.size(), std::size_t{kLines}) << "all at once is not bounded";
    for (const Event& event : events) ASSERT_EQ(event.data.str(), std::to_string(next++));
  }
  EXPECT_EQ(next, kLines);
  EXPECT_FALSE(pump.truncated());
}

TEST(OutputPumpTest, FinishHandsOutWhatWasHeldBack) {
  constexpr int kLines = 2000;
  OutputPump pump(1);
  const Fd writer = connect(pump, kOut, lines());
  write_all(writer, numbered_lines(kLines) + "rest");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::full);
  pump.finish(1s, false);
  const auto events = take(pump);
  ASSERT_EQ(events.size(), kLines + 1U);
  EXPECT_EQ(events[kLines - 1].data.view(), std::to_string(kLines - 1));
  EXPECT_EQ(events[kLines].data.view(), "rest");
  EXPECT_TRUE(pump.ended(kOut));
}

TEST(OutputPumpTest, DroppingTheOldestKeepsTheNewestAndNeverStops) {
  constexpr int kLines = 5000;
  const std::string text = numbered_lines(kLines);
  OutputPump pump(10 * sizeof(Event) + 100);
  Fd writer = connect(pump, kOut, lines());
  write_all(writer, text);
  writer.reset();
  Filled filled = Filled::waiting;
  while (filled == Filled::waiting) filled = pump.fill(kOut, 0ms, true);
  EXPECT_EQ(filled, Filled::ended);
  const auto events = take(pump);
  ASSERT_FALSE(events.empty());
  EXPECT_LE(events.size(), 10U);
  EXPECT_EQ(events.back().data.view(), std::to_string(kLines - 1));
  EXPECT_EQ(events.back().sequence, kLines - 1U);
  EXPECT_TRUE(pump.truncated());
  EXPECT_EQ(pump.bytes(), text.size());
  EXPECT_EQ(pump.queue().dropped_bytes() + joined(events).size(), text.size() - kLines)
      << "every byte is kept or counted; line ends are neither";
}

TEST(OutputPumpTest, EventsKeepTheirBytesWhileMoreIsRead) {
  // Large blocks are shared with events and reused only when nobody looks at them any more.
  constexpr std::size_t kSize = 40 * 1024;
  OutputPump pump(kPlenty);
  const Fd writer = connect(pump, kOut);
  std::vector<Event> kept;
  std::string expected;
  for (char c = 'a'; c <= 'j'; ++c) {
    write_all(writer, std::string(kSize, c));
    expected += std::string(kSize, c);
    EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::waiting);
    for (Event& event : take(pump)) kept.push_back(std::move(event));
  }
  EXPECT_TRUE(joined(kept) == expected) << "a block was written over";
}

TEST(OutputPumpTest, MoreThanAPipeHoldsArrivesWhole) {
  constexpr std::size_t kSize = 3'000'000;
  std::string text(kSize, ' ');
  for (std::size_t i = 0; i < kSize; ++i) text[i] = static_cast<char>('a' + i % 23);
  OutputPump pump(kPlenty);
  std::thread program([fd = connect(pump, kOut), &text] { write_all(fd, text); });
  std::string all;
  while (pump.fill(kOut, 0ms, false) != Filled::ended) {
    all += joined(take(pump));
    pollfd readable{.fd = pump.fd(kOut), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&readable, 1, 30'000), 1);
  }
  program.join();
  all += joined(take(pump));
  EXPECT_TRUE(all == text);
  EXPECT_EQ(pump.bytes(), kSize);
}

TEST(OutputPumpTest, EndlessOutputDoesNotKeepFillFromReturning) {
  OutputPump pump(kPlenty);
  connect_endless(pump);
  EXPECT_EQ(pump.fill(kOut, 0ms, true), Filled::waiting);
  EXPECT_GT(pump.bytes(), 0U);
  EXPECT_LT(pump.bytes(), 1024U * 1024);
}

}  // namespace
}  // namespace cordon::supervise
