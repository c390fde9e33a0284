#include "backend/posix/posix_child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cordon::posix {
namespace {

using base::Fd;
using namespace std::chrono_literals;

bool readable(int fd, int patience_ms) {
  pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&p, 1, patience_ms) == 1;
}

// The parameter: with pidfds, or as on a kernel without them.
class PosixChildTest : public testing::TestWithParam<bool> {
 protected:
  PosixChildTest() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader_.reset(ends[0]);
    writer_.reset(ends[1]);
    request_.timeout = kNoTimeout;
  }

  Result<void> launch(std::string program, std::vector<std::string> args) {
    request_.program = std::move(program);
    request_.args = std::move(args);
    const supervise::LaunchSpec spec{request_, limits_, {reader_.get(), null_.get(), null_.get()}};
    auto launched = child_->launch(spec);
    reader_.reset();
    return launched;
  }

  supervise::Ended ended() {
    EXPECT_TRUE(readable(child_->exit_fd(), 30'000));
    const auto ended = child_->reap();
    EXPECT_TRUE(ended);
    return ended.value_or(supervise::Ended{.exit_code = -1});
  }

  Request request_;
  Limits limits_;
  Fd null_{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  Fd reader_;
  Fd writer_;
  std::unique_ptr<PosixChild> child_ = std::make_unique<PosixChild>(GetParam(), Limits{});
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPidfd, PosixChildTest, testing::Bool());

TEST_P(PosixChildTest, TellsTheExitCode) {
  ASSERT_TRUE(launch("sh", {"-c", "read x; exit 42"}));
  EXPECT_FALSE(child_->reap()) << "it still runs";
  EXPECT_FALSE(readable(child_->exit_fd(), 0));
  writer_.reset();
  const auto end = ended();
  EXPECT_EQ(end.exit_code, 42);
  EXPECT_EQ(end.signal, 0);
  EXPECT_TRUE(end.usage.cpu_user);
  EXPECT_TRUE(end.usage.cpu_system);
}

TEST_P(PosixChildTest, TellsTheSignal) {  // C56
  ASSERT_TRUE(launch("cat", {}));
  EXPECT_EQ(child_->send(SIGTERM, Reach::program), 0);
  const auto end = ended();
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(end.exit_code, 0);
}

TEST_P(PosixChildTest, SignalReachesTheWholeGroup) {  // C20
  // The shell's child holds the pipe's other end: end of file says that it is gone, too. It reads
  // from 3, since a shell gives /dev/null as stdin to what it starts in the background.
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd alive_reader(ends[0]);
  Fd alive(ends[1]);
  request_.program = "sh";
  request_.args = {"-c", "exec 3<&0; (echo ready; exec cat <&3) & wait"};
  const supervise::LaunchSpec spec{request_, limits_, {reader_.get(), alive.get(), null_.get()}};
  ASSERT_TRUE(child_->launch(spec));
  alive.reset();
  char text[16];
  ASSERT_TRUE(readable(alive_reader.get(), 30'000));
  ASSERT_EQ(::read(alive_reader.get(), text, sizeof text), 6);
  EXPECT_FALSE(readable(alive_reader.get(), 0)) << "both run";
  EXPECT_EQ(child_->send(SIGKILL, Reach::tree), 0);
  // Before reap(), which ends what is left.
  ASSERT_TRUE(readable(alive_reader.get(), 5'000)) << "the shell's child still runs";
  EXPECT_EQ(::read(alive_reader.get(), text, sizeof text), 0);
  EXPECT_EQ(ended().signal, SIGKILL);
}

TEST_P(PosixChildTest, SamplesARunningProgram) {  // C112 C113
  ASSERT_TRUE(launch("cat", {}));
  const auto sample = child_->sample();
  ASSERT_TRUE(sample);
  EXPECT_GT(sample->memory_bytes, 0U);
  EXPECT_GE(sample->cpu, 0ns);
  writer_.reset();
  (void)ended();
}

TEST_P(PosixChildTest, DestroyingItEndsAndReapsTheProgram) {  // C74
  ASSERT_TRUE(launch("cat", {}));
  const auto pid = static_cast<pid_t>(child_->os_pid());
  child_.reset();
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_P(PosixChildTest, FailedLaunchNeedsNoCleaningUp) {
  const auto launched = launch("no-such-program", {});
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, ErrorCode::not_found);
  child_.reset();
}

TEST_P(PosixChildTest, LimitsHoldInTheProgram) {  // C18 C42
  limits_.open_files = 5;
  ASSERT_TRUE(launch("sh", {"-c", "exit $(ulimit -n)"}));
  EXPECT_EQ(ended().exit_code, 5);
}

}  // namespace
}  // namespace cordon::posix
