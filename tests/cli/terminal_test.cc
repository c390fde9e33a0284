// The command at a terminal.
#include <termios.h>

#include <csignal>

#include "fixture.h"
#include "terminal_pair.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;

class Terminal : public CliTest {
 protected:
  [[nodiscard]] Running start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    return Command(arguments).start_on(terminal_.path(), terminal_.take_user_end());
  }
  [[nodiscard]] Running start_shell(const std::string& script) {
    return start({"--grace", "50ms", "--", "sh", "-c", script});
  }
  void expect_restored() const {
    const termios now = terminal_.settings();
    EXPECT_EQ(now.c_lflag, before_.c_lflag);
    EXPECT_EQ(now.c_iflag, before_.c_iflag);
    EXPECT_EQ(now.c_oflag, before_.c_oflag);
    EXPECT_EQ(now.c_cflag, before_.c_cflag);
  }

  TerminalPair terminal_{40, 100};
  termios before_ = terminal_.settings();
};

constexpr const char* kWait = "; while :; do sleep 0.01; done";

TEST_F(Terminal, ProgramHasOneOfItsOwn) {
  auto running = start_shell("tty; test -t 0 && test -t 1 && test -t 2 && echo all three");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, testing::StartsWith("/dev/console\r\n"));  // its name in the sandbox
  EXPECT_THAT(ended.out, HasSubstr("all three\r\n"));
}

TEST_F(Terminal, ProgramHasOneOfItsOwnWithoutASandboxToo) {
  auto running = start({"--backend", "posix", "--", "tty"});
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, testing::StartsWith("/dev/pts/"));
  EXPECT_THAT(ended.out, testing::Not(HasSubstr(terminal_.path() + "\r")));
}

TEST_F(Terminal, ProgramKnowsTheWindowSizeAndItsChanges) {
  auto running = start_shell(std::string("stty size; trap 'stty size' WINCH; echo ready") + kWait);
  ASSERT_TRUE(running.reads("40 100\r\n"));
  ASSERT_TRUE(running.reads("ready"));
  terminal_.resize(50, 132);
  ASSERT_TRUE(running.reads("50 132\r\n"));
  running.types("\x03");
  EXPECT_EQ(running.wait().status, 128 + SIGINT);
}

TEST_F(Terminal, CtrlCInterruptsTheProgram) {
  auto running = start_shell(std::string("trap 'echo got it; exit 9' INT; echo ready") + kWait);
  ASSERT_TRUE(running.reads("ready"));
  running.types("\x03");
  ASSERT_TRUE(running.reads("got it"));
  EXPECT_EQ(running.wait().status, 9);
  expect_restored();
}

TEST_F(Terminal, CtrlCTwiceWithinASecondCancels) {
  auto running = start_shell(std::string("trap '' INT TERM; echo ready") + kWait);
  ASSERT_TRUE(running.reads("ready"));
  running.types("\x03\x03");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 124);
  EXPECT_THAT(ended.out, HasSubstr("cordon: cancelled: ended after "));
  expect_restored();
}

TEST_F(Terminal, EveryOtherKeyIsTheProgramsToo) {
  auto running = start_shell("stty raw -echo; echo ready; head -c 4 | od -An -tx1");
  ASSERT_TRUE(running.reads("ready"));
  running.types("\x1a\x1c\x04\r");  // Ctrl-Z, Ctrl-\, Ctrl-D, Return
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("1a 1c 04 0d"));
}

TEST_F(Terminal, WhatIsWrittenLastIsShown) {
  auto running = start_shell("head -c 30000 /dev/zero | tr '\\0' a; printf 'the end'");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.out, std::string(30000, 'a') + "the end");
}

TEST_F(Terminal, LinesAndEndOfInputReachTheProgram) {
  auto running = start({"--", "cat"});
  running.types("hello\r");
  ASSERT_TRUE(running.reads("hello\r\nhello\r\n"));  // its echo, and cat's
  running.types("\x04");
  EXPECT_EQ(running.wait().status, 0);
}

TEST_F(Terminal, IsRawWhileTheProgramRunsAndRestoredAfterwards) {
  auto running = start_shell("echo ready; read line; exit 3");
  ASSERT_TRUE(running.reads("ready"));
  const termios during = terminal_.settings();
  EXPECT_EQ(during.c_lflag & static_cast<tcflag_t>(ICANON | ECHO | ISIG), 0U);
  running.types("\r");
  EXPECT_EQ(running.wait().status, 3);
  expect_restored();
}

TEST_F(Terminal, IsRestoredWhenTheRunIsCancelled) {
  auto cancelled = start_shell(std::string("trap '' TERM; echo ready") + kWait);
  ASSERT_TRUE(cancelled.reads("ready"));
  cancelled.signal(SIGTERM);
  EXPECT_EQ(cancelled.wait().status, 124);
  expect_restored();
}

TEST_F(Terminal, IsRestoredAfterATimeout) {
  auto running = start({"--timeout", "50ms", "--", "sleep", "30"});
  EXPECT_EQ(running.wait().status, 5);
  expect_restored();
}

TEST_F(Terminal, IsLeftAloneWhenTheProgramDoesNotStart) {
  auto running = start({"--", "no-such-program"});
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 127);
  EXPECT_THAT(ended.out, HasSubstr("cordon: program no-such-program was not found"));
  expect_restored();
}

TEST_F(Terminal, AnOutputLimitHoldsThereToo) {
  auto running = start({"--output", "10", "--", "yes"});
  EXPECT_EQ(running.wait().status, 124);
  expect_restored();
}

TEST_F(Terminal, InputIsPassedOnWhenOutputIsRedirected) {
  auto running = Command({"run", "--", "sh", "-c", "echo ready; test -t 0 || cat"})
                     .redirect(1, path("out"))
                     .start_on(terminal_.path(), terminal_.take_user_end());
  running.types("line\r\x04");
  EXPECT_EQ(running.wait().status, 0);
  EXPECT_EQ(read_file(path("out")), "ready\nline\n");
}

TEST_F(Terminal, JsonTakesTypedInputWithoutATerminalForTheProgram) {
  auto running = start({"--json", "--", "sh", "-c", "test -t 1 || cat"});
  running.types("line\r\x04");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr(R"("stdout":"line\n")"));
}

TEST_F(Terminal, HangupCancels) {
  auto running = Command({"run", "--report", path("report"), "--grace", "50ms", "--", "sh", "-c",
                          std::string("trap '' HUP TERM; echo ready") + kWait})
                     .start_on(terminal_.path(), terminal_.take_user_end());
  ASSERT_TRUE(running.reads("ready"));
  running.hang_up();
  EXPECT_EQ(running.wait().status, 124);
  EXPECT_EQ(parse(read_file(path("report"))).at("verdict"), "cancelled");
}

}  // namespace
}  // namespace cordon::cli
