#include "backend/posix/exit_signal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/posix/spawn.h"

namespace cordon::posix {
namespace {

using base::Fd;

bool readable(int fd, int patience_ms) {
  pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&p, 1, patience_ms) == 1;
}

// A program that ends when its stdin does.
struct Cat {
  Cat() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reader(ends[0]);
    stdin_writer.reset(ends[1]);
    const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    const char* const argv[] = {"/bin/cat", nullptr};
    const char* const envp[] = {nullptr};
    ChildPlan plan{};
    plan.path = argv[0];
    plan.argv = argv;
    plan.envp = envp;
    plan.stdio[0] = reader.get();
    plan.stdio[1] = plan.stdio[2] = null.get();
    pid = spawn(plan).pid;
  }
  pid_t pid = -1;
  Fd stdin_writer;
};

TEST(ExitSignalTest, TellsTheEndAndDoesNotReap) {
  Cat cat;
  ASSERT_GT(cat.pid, 0);
  ExitSignal signal(cat.pid);
  ASSERT_GE(signal.fd(), 0);
  EXPECT_FALSE(readable(signal.fd(), 0)) << "it still runs";
  cat.stdin_writer.reset();
  EXPECT_TRUE(readable(signal.fd(), 30'000));
  signal.join();
  int status = -1;
  EXPECT_EQ(::waitpid(cat.pid, &status, WNOHANG), cat.pid) << "left for us to reap";
  EXPECT_EQ(status, 0);
}

TEST(ExitSignalTest, TellsTheEndOfAChildThatHasEndedBefore) {
  Cat cat;
  ASSERT_GT(cat.pid, 0);
  cat.stdin_writer.reset();
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(cat.pid), &info, WEXITED | WNOWAIT), 0);
  ExitSignal signal(cat.pid);
  EXPECT_TRUE(readable(signal.fd(), 30'000));
  signal.join();
  EXPECT_EQ(::waitpid(cat.pid, nullptr, 0), cat.pid);
}

TEST(ExitSignalTest, JoiningTwiceIsNoError) {
  Cat cat;
  ExitSignal signal(cat.pid);
  cat.stdin_writer.reset();
  signal.join();
  signal.join();
  EXPECT_EQ(::waitpid(cat.pid, nullptr, 0), cat.pid);
}

}  // namespace
}  // namespace cordon::posix
