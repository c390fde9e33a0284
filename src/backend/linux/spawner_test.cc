// The spawner itself, by scripts that set up no sandbox.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "backend/linux/keeper.h"
#include "backend/linux/spawner_link.h"
#include "backend/linux/status_socket.h"

namespace cordon::linux_backend {
namespace {

using spawner::Op;
using spawner::ReportKind;

TimePoint soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

class SpawnerTest : public testing::Test {
 protected:
  SpawnerTest() : keeper_(*Keeper::start()), link_(*keeper_), status_(*StatusSocket::make()) {
    (void)script_.send_fd(status_.theirs());
    script_.clone_flags(CLONE_PARENT);
  }
  void send() {
    ASSERT_TRUE(link_.send(script_));
    status_.close_theirs();
  }
  // The next report but `started`, whose process is kept for reaping.
  StatusSocket::Heard hear() {
    for (;;) {
      auto heard = status_.next(soon());
      if (!heard || !*heard) {
        ADD_FAILURE() << "no report";
        return {};
      }
      if ((*heard)->report.kind != ReportKind::started) return **heard;
      setup_ = static_cast<pid_t>((*heard)->report.value);
    }
  }
  // Nothing more is reported, for nobody is left.
  void expect_end() {
    for (;;) {
      auto heard = status_.next(soon());
      ASSERT_TRUE(heard);
      if (!*heard) return;
      ASSERT_EQ((*heard)->report.kind, ReportKind::started);
      setup_ = static_cast<pid_t>((*heard)->report.value);
    }
  }
  void reap() const {
    int status = 0;
    ASSERT_EQ(::waitpid(setup_, &status, 0), setup_);
  }

  std::unique_ptr<Keeper> keeper_;
  SpawnerLink link_;
  StatusSocket status_;
  ScriptBuilder script_;
  pid_t setup_ = -1;
};

TEST_F(SpawnerTest, AFailingCallEndsTheScriptAndIsNamed) {
  script_.about("fine");
  script_.call(__NR_getpid, {});
  script_.about("open", "/absent");
  script_.call(__NR_openat, {AT_FDCWD, script_.text("/absent"), O_RDONLY, 0});
  script_.op(Op::park);
  send();
  const auto heard = hear();
  EXPECT_EQ(heard.report.kind, ReportKind::failed);
  EXPECT_EQ(heard.report.error, ENOENT);
  EXPECT_EQ(script_.explain(heard.report.role, heard.report.step).argument, "/absent");
  expect_end();
  reap();
}

TEST_F(SpawnerTest, ATolerableErrorIsNoFailure) {
  script_.call(__NR_openat, {AT_FDCWD, script_.text("/absent"), O_RDONLY, 0}, ENOENT);
  script_.op(Op::park);
  send();
  EXPECT_EQ(hear().report.kind, ReportKind::parked);
  ASSERT_TRUE(status_.release());
  expect_end();
  reap();
}

TEST_F(SpawnerTest, ReportsComeFromWhomTheKernelSays) {
  script_.op(Op::park);
  send();
  const auto heard = hear();
  status_.abandon();
  expect_end();
  EXPECT_EQ(heard.sender, setup_);
  reap();
}

TEST_F(SpawnerTest, AParkedProcessEndsWhenItIsAbandoned) {
  script_.op(Op::park);
  send();
  EXPECT_EQ(hear().report.kind, ReportKind::parked);
  status_.abandon();
  expect_end();
  reap();
}

TEST_F(SpawnerTest, AnotherFileInItsPlaceIsNoticed) {
  const Register opened =
      script_.call_into(__NR_openat, {AT_FDCWD, script_.text("/usr"), O_PATH, 0});
  script_.op(Op::expect, {opened, 1, 1});
  send();
  const auto heard = hear();
  EXPECT_EQ(heard.report.error, ESTALE);
  expect_end();
  reap();
}

TEST_F(SpawnerTest, IsStartedAnewAfterItWasKilled) {
  script_.op(Op::exit);
  send();
  expect_end();
  reap();
  ASSERT_EQ(::kill(link_.pid(), SIGKILL), 0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(link_.pid()), &info, WEXITED | WNOWAIT), 0);

  ScriptBuilder again;
  StatusSocket status = *StatusSocket::make();
  (void)again.send_fd(status.theirs());
  again.clone_flags(CLONE_PARENT);
  again.op(Op::exit);
  ASSERT_TRUE(link_.send(again));
  status.close_theirs();
  auto heard = status.next(soon());
  ASSERT_TRUE(heard && *heard);
  setup_ = static_cast<pid_t>((*heard)->report.value);
  reap();
}

}  // namespace
}  // namespace cordon::linux_backend
