#include "base/write.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace cordon::base {
namespace {

bool sigpipe_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

bool sigpipe_blocked() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, SIGPIPE) == 1;
}

using Write = ssize_t (*)(int fd, std::string_view data);

class WriteTest : public testing::TestWithParam<Write> {
 public:
  WriteTest() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    reader_.reset(ends[0]);
    writer_.reset(ends[1]);
    ::sigaction(SIGPIPE, nullptr, &action_before_);
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_before_);
  }

  ~WriteTest() override {
    // Ignoring a signal throws away a pending one.
    (void)std::signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    ::sigaction(SIGPIPE, &action_before_, nullptr);
  }

 protected:
  static void block_sigpipe() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
  }

  void expect_epipe() {
    reader_.reset();
    errno = 0;
    EXPECT_EQ(GetParam()(writer_.get(), "x"), -1);
    EXPECT_EQ(errno, EPIPE);
  }

  Fd reader_;
  Fd writer_;

 private:
  struct sigaction action_before_{};
  sigset_t mask_before_{};
};

TEST_P(WriteTest, WritesTheBytes) {
  EXPECT_EQ(GetParam()(writer_.get(), "hello"), 5);
  char text[8];
  EXPECT_EQ(::read(reader_.get(), text, sizeof text), 5);
  EXPECT_EQ(std::string(text, 5), "hello");
}

TEST_P(WriteTest, FullPipeIsEagain) {
  const std::string block(64 * 1024, 'x');
  ssize_t written = 0;
  while ((written = GetParam()(writer_.get(), block)) > 0) {
  }
  EXPECT_EQ(written, -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_P(WriteTest, ClosedPipeIsEpipeWhereSigpipeWouldKill) {
  (void)std::signal(SIGPIPE, SIG_DFL);
  expect_epipe();
  EXPECT_FALSE(sigpipe_pending());
  EXPECT_FALSE(sigpipe_blocked());
}

TEST_P(WriteTest, ClosedPipeIsEpipeWhereSigpipeIsIgnored) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  expect_epipe();
  EXPECT_FALSE(sigpipe_pending());
  EXPECT_FALSE(sigpipe_blocked());
}

volatile std::sig_atomic_t handled = 0;

TEST_P(WriteTest, ClosedPipeDoesNotReachTheApplicationsHandler) {
  handled = 0;
  (void)std::signal(SIGPIPE, [](int) { handled = handled + 1; });
  expect_epipe();
  EXPECT_EQ(handled, 0);
  EXPECT_FALSE(sigpipe_pending());
}

TEST_P(WriteTest, LeavesSigpipeBlockedWhereItWasBlocked) {
  (void)std::signal(SIGPIPE, SIG_DFL);
  block_sigpipe();
  expect_epipe();
  EXPECT_TRUE(sigpipe_blocked());
  EXPECT_FALSE(sigpipe_pending());
}

TEST_P(WriteTest, SigpipeThatWasPendingBeforeStaysPending) {
  (void)std::signal(SIGPIPE, SIG_DFL);
  block_sigpipe();
  pthread_kill(pthread_self(), SIGPIPE);
  ASSERT_TRUE(sigpipe_pending());
  expect_epipe();
  EXPECT_TRUE(sigpipe_pending()) << "somebody else's signal was taken";
}

TEST_P(WriteTest, BadDescriptorIsItsOwnError) {
  errno = 0;
  EXPECT_EQ(GetParam()(-1, "x"), -1);
  EXPECT_EQ(errno, EBADF);
}

INSTANTIATE_TEST_SUITE_P(ByTheKernel, WriteTest, testing::Values(write_without_sigpipe));
INSTANTIATE_TEST_SUITE_P(ByItself, WriteTest, testing::Values(write_with_sigpipe_blocked));

}  // namespace
}  // namespace cordon::base
