// Signals that the command gets while the program runs.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::StartsWith;

// Says when it is ready, and that it got SIGINT; a second line of input ends it with status 7.
constexpr const char* kStubborn = R"(
  trap 'echo interrupted' INT
  trap '' TERM HUP
  echo ready
  until read line; do :; done
  exit 7)";

class Signals : public CliTest {
 protected:
  [[nodiscard]] Running start(std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "--report", path("report")});
    options.insert(options.end(), {"--", "sh", "-c", kStubborn});
    auto running = Command(options).keep_input_open().start();
    EXPECT_TRUE(running.reads("ready"));
    return running;
  }
  [[nodiscard]] std::string verdict() const {
    return std::string(parse(read_file(path("report"))).at("verdict").as_string());
  }
};

TEST_F(Signals, FirstInterruptIsTheProgramsBusiness) {
  auto running = start({});
  running.signal(SIGINT);
  ASSERT_TRUE(running.reads("interrupted"));
  running.types("line\n");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 7);
  EXPECT_EQ(verdict(), "exited");
}

TEST_F(Signals, InterruptedProgramDiesOfItAsUsual) {
  auto running = Command({"run", "--", "sh", "-c", "echo ready; exec sleep 1000"}).start();
  ASSERT_TRUE(running.reads("ready"));
  running.signal(SIGINT);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 128 + SIGINT);
  EXPECT_EQ(ended.err, "");
}

TEST_F(Signals, InterruptReachesWhatTheProgramWaitsFor) {
  // A shell acts on SIGINT only when its command has ended. The command itself says it is ready:
  // a signal that reaches the shell before it has forked would not reach the command.
  auto running = Command({"run", "--read", CORDON_TEST_PROGRAMS_DIR, "--", "sh", "-c",
                          CORDON_TEST_PROGRAMS_DIR "/behave hang; echo survived"})
                     .start();
  ASSERT_TRUE(running.reads("ready"));
  running.signal(SIGINT);
  EXPECT_EQ(running.wait().status, 128 + SIGINT);
}

TEST_F(Signals, SecondInterruptCancels) {
  auto running = start({"--grace", "50ms"});
  running.signal(SIGINT);
  ASSERT_TRUE(running.reads("interrupted"));
  running.signal(SIGINT);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 124);
  EXPECT_THAT(ended.err, StartsWith("cordon: cancelled: ended after "));
  EXPECT_EQ(verdict(), "cancelled");
}

TEST_F(Signals, ThirdInterruptDoesNotWaitForTheGrace) {
  auto running = start({"--grace", "1h"});
  running.signal(SIGINT);
  ASSERT_TRUE(running.reads("interrupted"));
  running.signal(SIGINT);
  // A standard signal that is pending already is not queued again.
  running.signal(SIGQUIT);
  EXPECT_EQ(running.wait().status, 124);
}

TEST_F(Signals, TerminationAndHangupCancel) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    auto running = start({"--grace", "50ms"});
    running.signal(signal);
    const Ended ended = running.wait();
    EXPECT_EQ(ended.status, 124);
    EXPECT_EQ(verdict(), "cancelled");
  }
}

TEST_F(Signals, CancellationGivesTheProgramItsGrace) {
  auto running = Command({"run", "--grace", "1h", "--", "sh", "-c",
                          "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done"})
                     .start();
  ASSERT_TRUE(running.reads("ready"));
  running.signal(SIGTERM);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 124);
  EXPECT_EQ(ended.out, "ready\nbye\n");
}

TEST_F(Signals, CancellationDoesNotWaitForAReaderThatDoesNotRead) {
  // Nobody reads the pipe that "yes" fills through us.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const base::Fd read_end(ends[0]);
  const base::Fd write_end(ends[1]);
  auto running = Command({"run", "--output", "1T", "--", "sh", "-c", "echo ready >&2; exec yes"})
                     .redirect(1, "/proc/self/fd/" + std::to_string(write_end.get()))
                     .redirect(2, path("stderr"))
                     .start();
  pollfd room{.fd = write_end.get(), .events = POLLOUT, .revents = 0};
  while (::poll(&room, 1, 0) != 0) ::poll(nullptr, 0, 1);  // until it is full
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait().status, 124);
}

TEST_F(Signals, WhatTheCallerIgnoresStaysIgnored) {
  auto running = Command({"run", "--", "sh", "-c", kStubborn})
                     .ignoring(SIGHUP)  // as nohup does
                     .keep_input_open()
                     .start();
  ASSERT_TRUE(running.reads("ready"));
  running.signal(SIGHUP);
  running.signal(SIGINT);
  ASSERT_TRUE(running.reads("interrupted"));
  running.types("line\n");
  EXPECT_EQ(running.wait().status, 7);
}

TEST_F(Signals, CancellationReachesTheWholeTree) {
  auto running = Command({"run", "--grace", "50ms", "--", "sh", "-c",
                          "trap '' TERM; (trap '' TERM; echo ready; exec sleep 1000) & wait"})
                     .start();
  ASSERT_TRUE(running.reads("ready"));
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait().status, 124);  // the fixture looks for survivors
}

TEST_F(Signals, JsonTellsOfACancelledRun) {
  auto running = Command({"run", "--json", "--write", directory(), "--grace", "50ms", "--", "sh",
                          "-c", "touch " + path("ready") + "; trap '' TERM; exec sleep 1000"})
                     .start();
  while (!std::filesystem::exists(path("ready"))) ::poll(nullptr, 0, 1);
  running.signal(SIGTERM);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 124);
  EXPECT_EQ(parse(ended.out).at("outcome").at("verdict"), "cancelled");
}

}  // namespace
}  // namespace cordon::cli
