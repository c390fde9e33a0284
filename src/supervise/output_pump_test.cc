#include "supervise/output_pump.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/write.h"

namespace cordon::supervise {
namespace {

using base::Fd;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;
using Filled = OutputPump::Filled;

constexpr std::size_t kPlenty = std::size_t{1} << 30;
constexpr std::size_t kOut = 0;
constexpr std::size_t kErr = 1;

Framing lines() {
  Framing framing;
  framing.mode = OutputMode::line;
  return framing;
}

// The pump's end is non-blocking, the program's is not.
Fd connect(OutputPump& pump, std::size_t stream, const Framing& framing = {}) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Fd();
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  pump.open(stream, Fd(ends[0]), framing);
  return Fd(ends[1]);
}

void write_all(const Fd& fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = base::write_without_sigpipe(fd.get(), text);
    ASSERT_GT(n, 0);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

int in_pipe(int fd) {
  int count = 0;
  ::ioctl(fd, FIONREAD, &count);
  return count;
}

std::vector<Event> take(OutputPump& pump) {
  std::vector<Event> batch;
  pump.queue().take(batch);
  return batch;
}

std::vector<std::string> texts(const std::vector<Event>& events) {
  std::vector<std::string> all;
  all.reserve(events.size());
  for (const Event& event : events) all.push_back(event.data.str());
  return all;
}

std::string joined(const std::vector<Event>& events) {
  std::string all;
  for (const Event& event : events) all += event.data.view();
  return all;
}

std::string numbered_lines(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += std::to_string(i) + "\n";
  return all;
}

// Writes as fast as it can until its reader is gone.
class Flood {
 public:
  explicit Flood(Fd fd)
      : thread_([fd = std::move(fd)] {
          const std::string block(4096, 'x');
          while (base::write_without_sigpipe(fd.get(), block) > 0) {
          }
        }) {}
  ~Flood() { thread_.join(); }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

 private:
  std::thread thread_;
};

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

// /dev/zero is a writer that is never slower than its reader. The limit bounds what is kept in
// case the pump does not stop.
void connect_endless(OutputPump& pump) {
  pump.set_limit(1024 * 1024);
  pump.open(kOut, Fd(::open("/dev/zero", O_RDONLY | O_CLOEXEC | O_NONBLOCK)), {});
}

TEST(OutputPumpTest, EndlessOutputDoesNotKeepFillFromReturning) {
  OutputPump pump(kPlenty);
  connect_endless(pump);
  EXPECT_EQ(pump.fill(kOut, 0ms, true), Filled::waiting);
  EXPECT_GT(pump.bytes(), 0U);
  EXPECT_LT(pump.bytes(), 1024U * 1024);
}

TEST(OutputPumpLimitTest, CutsExactlyAtTheLimit) {
  OutputPump pump(kPlenty);
  pump.set_limit(10);
  const Fd writer = connect(pump, kOut);
  write_all(writer, "0123456789abcdef");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::over_limit);
  EXPECT_EQ(joined(take(pump)), "0123456789");
  EXPECT_EQ(pump.bytes(), 16U) << "what the program wrote";
  EXPECT_TRUE(pump.truncated());
}

TEST(OutputPumpLimitTest, CutsALargeBlockExactlyToo) {
  OutputPump pump(kPlenty);
  pump.set_limit(20'001);
  const Fd writer = connect(pump, kOut);
  write_all(writer, std::string(50'000, 'x'));
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::over_limit);
  EXPECT_EQ(joined(take(pump)).size(), 20'001U);
}

TEST(OutputPumpLimitTest, ExactlyTheLimitIsAllowed) {
  OutputPump pump(kPlenty);
  pump.set_limit(10);
  const Fd writer = connect(pump, kOut);
  write_all(writer, "0123456789");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::waiting);
  EXPECT_FALSE(pump.truncated());
  write_all(writer, "a");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::over_limit);
  EXPECT_EQ(joined(take(pump)), "0123456789");
  EXPECT_TRUE(pump.truncated());
}

TEST(OutputPumpLimitTest, CountsBothStreamsTogether) {
  OutputPump pump(kPlenty);
  pump.set_limit(10);
  const Fd out = connect(pump, kOut);
  const Fd err = connect(pump, kErr);
  write_all(out, "666666");
  write_all(err, "7777777");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::waiting);
  EXPECT_EQ(pump.fill(kErr, 0ms, false), Filled::over_limit);
  EXPECT_THAT(texts(take(pump)), ElementsAre("666666", "7777"));
}

TEST(OutputPumpLimitTest, NothingGetsInAfterwards) {
  OutputPump pump(kPlenty);
  pump.set_limit(4);
  const Fd writer = connect(pump, kOut);
  write_all(writer, "abcdef");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::over_limit);
  write_all(writer, "ghi");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::over_limit);
  write_all(writer, "jkl");
  pump.finish(0ms, false);
  EXPECT_EQ(joined(take(pump)), "abcd");
  EXPECT_EQ(pump.bytes(), 12U);
}

TEST(OutputPumpLimitTest, FinishCutsToo) {
  OutputPump pump(kPlenty);
  pump.set_limit(4);
  const Fd writer = connect(pump, kOut);
  write_all(writer, "abcdef");
  pump.finish(0ms, false);
  EXPECT_EQ(joined(take(pump)), "abcd");
  EXPECT_TRUE(pump.truncated());
}

TEST(OutputPumpLimitTest, ZeroLetsNothingThrough) {
  OutputPump pump(kPlenty);
  pump.set_limit(0);
  const Fd writer = connect(pump, kOut);
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::waiting);
  write_all(writer, "a");
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::over_limit);
  EXPECT_THAT(joined(take(pump)), IsEmpty());
}

TEST(OutputPumpFinishTest, TakesWhatIsThereThoughAnotherWriterHoldsThePipe) {
  OutputPump pump(1);
  const Fd out = connect(pump, kOut);
  const Fd err = connect(pump, kErr);
  write_all(out, std::string(60'000, 'x'));
  write_all(err, "last words");
  pump.finish(2s, false);
  const auto events = take(pump);
  EXPECT_EQ(joined(events), std::string(60'000, 'x') + "last words");
  EXPECT_EQ(events.back().at, 2s);
  EXPECT_TRUE(pump.ended(kOut));
  EXPECT_TRUE(pump.ended(kErr));
}

TEST(OutputPumpFinishTest, EndlessOutputDoesNotKeepFinishFromReturning) {  // of a survivor
  OutputPump pump(kPlenty);
  connect_endless(pump);
  pump.finish(0ms, false);
  EXPECT_LE(pump.bytes(), 256U * 1024) << "a pipe or two, not all that keeps coming";
  EXPECT_TRUE(pump.ended(kOut));
}

TEST(OutputPumpFinishTest, LosesNothingThatWasThereWhileAnotherKeepsWriting) {
  OutputPump pump(kPlenty);
  Fd writer = connect(pump, kOut);
  write_all(writer, std::string(64 * 1024, 'y'));  // the pipe is full
  const Flood flood(std::move(writer));
  pump.finish(0ms, false);
  EXPECT_TRUE(joined(take(pump)).starts_with(std::string(64 * 1024, 'y')));
  pump.close_ended();
}

TEST(OutputPumpTerminalTest, ClosedTerminalIsTheEnd) {
  Fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  ASSERT_TRUE(master) << "needs pseudo terminals";
  ASSERT_EQ(::grantpt(master.get()), 0);
  ASSERT_EQ(::unlockpt(master.get()), 0);
  char name[128];
  ASSERT_EQ(::ptsname_r(master.get(), name, sizeof name), 0);
  Fd terminal(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal);

  OutputPump pump(kPlenty);
  pump.open(kOut, std::move(master), {});
  write_all(terminal, "bye");
  pollfd readable{.fd = pump.fd(kOut), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&readable, 1, 30'000), 1);
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::waiting);
  terminal.reset();  // read() now says EIO
  ASSERT_EQ(::poll(&readable, 1, 30'000), 1);
  EXPECT_EQ(pump.fill(kOut, 0ms, false), Filled::ended);
  EXPECT_EQ(joined(take(pump)), "bye");
}

}  // namespace
}  // namespace cordon::supervise
