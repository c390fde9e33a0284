// Where output ends: at its limit, with the run, with its terminal.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/write.h"
#include "supervise/output_pump.h"
#include "supervise/output_pump_test_support.h"

namespace cordon::supervise {
namespace {

using base::Fd;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;
using Filled = OutputPump::Filled;

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
