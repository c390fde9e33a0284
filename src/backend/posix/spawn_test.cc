// What a spawned program gets, and what is left of one that could not be started.
#include "backend/posix/spawn.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "backend/posix/spawn_test_support.h"
#include "base/fd.h"

namespace cordon::posix {
namespace {

using base::Fd;
using testing::ElementsAre;

bool is_child(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// "SigIgn:\t0000000000001000" and such from a process's status.
std::uint64_t signal_set(const std::string& status, const std::string& name) {
  for (const std::string& line : split(status)) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1), nullptr, 16);
  }
  ADD_FAILURE() << "no " << name << " in " << status;
  return ~std::uint64_t{0};
}

// A place that the child sees something at, and nobody else.
TEST(SpawnTest, MountsAreTheChildsAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "root: to mount";
  char from[] = "/tmp/cordon-from-XXXXXX";
  char at[] = "/tmp/cordon-at-XXXXXX";
  ASSERT_NE(::mkdtemp(from), nullptr);
  ASSERT_NE(::mkdtemp(at), nullptr);
  ASSERT_EQ(::mkdir((std::string(from) + "/here").c_str(), 0700), 0);
  const Fd tree(static_cast<int>(
      ::syscall(SYS_open_tree, AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)));
  ASSERT_TRUE(tree);
  const std::array<MountSetting, 1> mounts = {{{.tree = tree.get(), .at = at}}};
  Program program({"/bin/ls", at});
  program.plan.mounts = mounts.data();
  program.plan.mount_count = mounts.size();
  EXPECT_EQ(output_of(program), "here\n");
  EXPECT_TRUE(std::filesystem::is_empty(at));

  Program failing({"/bin/true"});
  const std::array<MountSetting, 1> nowhere = {{{.tree = tree.get(), .at = "/no/such/place"}}};
  failing.plan.mounts = nowhere.data();
  failing.plan.mount_count = nowhere.size();
  (void)spawn(failing.plan);
  EXPECT_TRUE(failing.plan.failed_step == Step::mount);
  EXPECT_EQ(int{failing.plan.failed_errno}, ENOENT);
  std::filesystem::remove_all(from);
  EXPECT_EQ(::rmdir(at), 0);
}

TEST(SpawnTest, PassesDescriptorsInTheirOrder) {
  // Usually 3 and 4: the numbers that they are going to have, so that they are in each other's way.
  const Fd one(::memfd_create("one", MFD_CLOEXEC));
  const Fd two(::memfd_create("two", MFD_CLOEXEC));
  const Fd high(::fcntl(one.get(), F_DUPFD_CLOEXEC, 200));
  ASSERT_EQ(::pwrite(one.get(), "one", 3, 0), 3);
  ASSERT_EQ(::pwrite(two.get(), "two", 3, 0), 3);
  const auto told = [](std::array<int, 2> passed) {
    Program program({"/bin/sh", "-c", "cat /dev/fd/3 /dev/fd/4; ls /proc/self/fd | wc -l"});
    program.plan.passed = passed.data();
    program.plan.passed_count = passed.size();
    return output_of(program);
  };
  EXPECT_EQ(told({one.get(), two.get()}), "onetwo6\n");
  EXPECT_EQ(told({two.get(), one.get()}), "twoone6\n");
  EXPECT_EQ(told({high.get(), two.get()}), "onetwo6\n");
  EXPECT_EQ(told({two.get(), two.get()}), "twotwo6\n");
}

TEST(SpawnTest, RunsTheProgramWithItsArguments) {
  Program program({"/bin/echo", "a b", "$HOME", "*"});
  EXPECT_EQ(output_of(program), "a b $HOME *\n");  // C130: never a shell
}

TEST(SpawnTest, GivesTheEnvironmentAndNothingElse) {
  Program program({"/usr/bin/env"});
  EXPECT_THAT(split(output_of(program)), ElementsAre("PATH=/usr/bin:/bin", "LC_ALL=C"));
}

TEST(SpawnTest, ChangesToTheWorkingDirectory) {
  Program program({"/bin/pwd"});
  program.plan.cwd = "/usr/bin";
  EXPECT_EQ(output_of(program), std::filesystem::canonical("/usr/bin").string() + "\n");
}

TEST(SpawnTest, GivesAPidfdThatTellsTheEnd) {
  Program program({"/bin/true"});
  const Spawned spawned = spawn(program.plan);
  ASSERT_GT(spawned.pid, 0);
  ASSERT_TRUE(spawned.pidfd);
  EXPECT_EQ(::fcntl(spawned.pidfd.get(), F_GETFD), FD_CLOEXEC);
  pollfd ended{.fd = spawned.pidfd.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, 30'000), 1);
  EXPECT_EQ(wait_for(spawned.pid), 0);
}

TEST(SpawnTest, ProcessGroupIsItsOwn) {  // C20 C38
  Program program({"/bin/cat"});
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Fd reader(ends[0]);
  Fd writer(ends[1]);
  program.plan.stdio[0] = reader.get();
  const Spawned spawned = spawn(program.plan);
  ASSERT_GT(spawned.pid, 0);
  EXPECT_EQ(::getpgid(spawned.pid), spawned.pid);
  EXPECT_EQ(::getsid(spawned.pid), ::getsid(0)) << "no terminal, so no session of its own";
  writer.reset();  // cat ends
  EXPECT_EQ(wait_for(spawned.pid), 0);
}

TEST(SpawnTest, SignalsAreAsForANewlyStartedSystem) {
  struct sigaction before[2]{};
  ::sigaction(SIGPIPE, nullptr, &before[0]);
  ::sigaction(SIGUSR1, nullptr, &before[1]);
  sigset_t mask_before;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);

  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR2, SIGCHLD}) sigaddset(&blocked, signal);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);

  Program program({"/bin/cat", "/proc/self/status"});
  const std::string status = output_of(program);

  sigset_t mask_after;
  pthread_sigmask(SIG_SETMASK, &mask_before, &mask_after);
  ::sigaction(SIGPIPE, &before[0], nullptr);
  ::sigaction(SIGUSR1, &before[1], nullptr);

  EXPECT_EQ(signal_set(status, "SigIgn"), 0U);
  EXPECT_EQ(signal_set(status, "SigBlk"), 0U);
  EXPECT_EQ(signal_set(status, "SigCgt"), 0U);
  EXPECT_EQ(sigismember(&mask_after, SIGTERM), 1) << "the caller's own mask is as it was";
  EXPECT_EQ(sigismember(&mask_after, SIGHUP), sigismember(&mask_before, SIGHUP));
}

TEST(SpawnTest, HandlerOfTheCallerStaysInTheCaller) {
  static volatile std::sig_atomic_t handled = 0;
  struct sigaction before{};
  ::sigaction(SIGUSR1, nullptr, &before);
  (void)std::signal(SIGUSR1, [](int) { handled = 1; });
  Program program({"/bin/sh", "-c", "kill -USR1 $$"});
  const Spawned spawned = spawn(program.plan);
  ASSERT_GT(spawned.pid, 0);
  const int status = wait_for(spawned.pid);
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(handled, 0);
}

TEST(SpawnTest, SetsRlimitsInTheChildAlone) {  // C18
  rlimit own_before{};
  ::getrlimit(RLIMIT_NOFILE, &own_before);
  Program program({"/bin/cat", "/proc/self/limits"});
  program.plan.rlimits[0] = {RLIMIT_NOFILE, 21, 22};
  program.plan.rlimits[1] = {RLIMIT_FSIZE, 12345, 12346};
  program.plan.rlimit_count = 2;
  const std::string limits = output_of(program);
  EXPECT_THAT(limits, testing::ContainsRegex("Max open files +21 +22 "));
  EXPECT_THAT(limits, testing::ContainsRegex("Max file size +12345 +12346 "));
  rlimit own_after{};
  ::getrlimit(RLIMIT_NOFILE, &own_after);
  EXPECT_EQ(own_after.rlim_cur, own_before.rlim_cur);
  EXPECT_EQ(own_after.rlim_max, own_before.rlim_max);
}

// --- failures: the program does not run, nothing is left, the plan says where ---

class SpawnFailureTest : public testing::Test {
 public:
  SpawnFailureTest() {
    std::string name = (std::filesystem::temp_directory_path() / "cordon_spawn_XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    marker_ = (directory_ / "ran").string();
  }
  ~SpawnFailureTest() override { std::filesystem::remove_all(directory_); }

 protected:
  void expect_failure(Program& program, Step step, int index, int error) const {
    const Spawned spawned = spawn(program.plan);
    EXPECT_GT(spawned.pid, 0);
    EXPECT_EQ(Step{program.plan.failed_step}, step);
    EXPECT_EQ(int{program.plan.failed_index}, index);
    EXPECT_EQ(int{program.plan.failed_errno}, error);
    EXPECT_FALSE(is_child(spawned.pid)) << "it has to be reaped";
    EXPECT_FALSE(std::filesystem::exists(marker_)) << "the program ran";
  }

  std::filesystem::path directory_;
  std::string marker_;
};

TEST_F(SpawnFailureTest, MarkerShowsAProgramThatRan) {  // so that its absence means something
  Program program({"/usr/bin/touch", marker_});
  const Spawned spawned = spawn(program.plan);
  EXPECT_EQ(Step{program.plan.failed_step}, Step::none);
  EXPECT_EQ(wait_for(spawned.pid), 0);
  EXPECT_TRUE(std::filesystem::exists(marker_));
}

TEST_F(SpawnFailureTest, RlimitThatCannotBeSet) {  // C18 C40
  Program program({"/usr/bin/touch", marker_});
  program.plan.rlimits[0] = {RLIMIT_NOFILE, 64, 64};
  program.plan.rlimits[1] = {999, 1, 1};
  program.plan.rlimits[2] = {RLIMIT_CPU, 1, 1};
  program.plan.rlimit_count = 3;
  expect_failure(program, Step::resource_limit, 1, EINVAL);
}

TEST_F(SpawnFailureTest, RlimitWithSoftAboveHard) {
  Program program({"/usr/bin/touch", marker_});
  program.plan.rlimits[0] = {RLIMIT_NOFILE, 64, 32};
  program.plan.rlimit_count = 1;
  expect_failure(program, Step::resource_limit, 0, EINVAL);
}

TEST_F(SpawnFailureTest, ProgramThatDoesNotExist) {
  Program program({(directory_ / "missing").string()});
  expect_failure(program, Step::execute, 0, ENOENT);
}

TEST_F(SpawnFailureTest, ProgramThatIsNotExecutable) {
  const std::string file = (directory_ / "plain").string();
  const Fd made(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  Program program({file});
  expect_failure(program, Step::execute, 0, EACCES);
}

TEST_F(SpawnFailureTest, FileThatIsNoProgram) {
  const std::string file = (directory_ / "text").string();
  {
    const Fd made(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
    ASSERT_EQ(::write(made.get(), "text", 4), 4);
  }
  Program program({file});
  expect_failure(program, Step::execute, 0, ENOEXEC);
}

TEST_F(SpawnFailureTest, WorkingDirectoryThatDoesNotExist) {
  Program program({"/usr/bin/touch", marker_});
  const std::string missing = (directory_ / "missing").string();
  program.plan.cwd = missing.c_str();
  expect_failure(program, Step::working_directory, 0, ENOENT);
}

TEST_F(SpawnFailureTest, StreamThatIsNotOpen) {
  for (int stream = 0; stream < 3; ++stream) {
    Program program({"/usr/bin/touch", marker_});
    program.plan.stdio[stream] = 987;
    expect_failure(program, Step::standard_stream, stream, EBADF);
  }
}

TEST_F(SpawnFailureTest, TerminalThatIsNone) {
  Program program({"/usr/bin/touch", marker_});
  program.plan.terminal = true;
  expect_failure(program, Step::terminal, 0, ENOTTY);
}

TEST_F(SpawnFailureTest, LeavesTheCallersDescriptorsAlone) {
  // The child shares the caller's table at first: closing there must not close here.
  const Fd high(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 150));
  Program program({(directory_ / "missing").string()});
  expect_failure(program, Step::execute, 0, ENOENT);
  EXPECT_NE(::fcntl(high.get(), F_GETFD), -1);
  for (int fd = 0; fd < 3; ++fd) EXPECT_NE(::fcntl(fd, F_GETFD), -1);
}

}  // namespace
}  // namespace cordon::posix
