// Nothing survives the end of a run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/fd.h"
#include "escape/runs.h"
#include "support/eventually.h"

namespace cordon::escape {
namespace {

using namespace std::chrono_literals;

class Trees : public Sandboxed {
 protected:
  const std::string mark_ = "tree-of-" + std::to_string(::getpid());

  // Processes with the mark on their command lines.
  [[nodiscard]] std::vector<pid_t> marked() const {
    std::vector<pid_t> found;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
      std::ifstream file(entry.path() / "cmdline");
      std::string line;
      std::getline(file, line);  // a process that ends meanwhile is no error
      if (line.find(mark_) != std::string::npos) {
        found.push_back(std::atoi(entry.path().filename().c_str()));
      }
    }
    return found;
  }
  [[nodiscard]] std::size_t alive() const { return marked().size(); }
  static constexpr std::size_t kAll = 8;  // the program, six that stay, one of which has a parent
};

TEST_F(Trees, StubbornTreeIsGoneAfterTimeout) {
  Request request = request_for(bait_, {"tree", mark_});
  request.timeout = 1s;
  request.grace = 100ms;
  const Started started = start(request);
  ASSERT_EQ(started.line, "ready");
  EXPECT_TRUE(support::eventually([&] { return alive() == kAll; })) << alive();
  const Outcome outcome = started.process->wait().value();
  EXPECT_EQ(alive(), 0U);
  EXPECT_EQ(outcome.verdict, Verdict::timeout);
  EXPECT_LT(outcome.wall, 3s);
}

TEST_F(Trees, StubbornTreeIsGoneAfterKill) {
  const Started started = start(request_for(bait_, {"tree", mark_}));
  ASSERT_EQ(started.line, "ready");
  ASSERT_TRUE(started.process->kill());
  EXPECT_EQ(started.process->wait().value().verdict, Verdict::cancelled);
  EXPECT_EQ(alive(), 0U);
}

TEST_F(Trees, TracedTreeIsGoneAfterTimeoutEvenWithoutTheFilter) {  // TRACEME works then
  const auto weak = manager_without({"seccomp"}).value();
  Request request = request_for(bait_, {"tree", mark_});
  request.timeout = 1s;
  const Started started = start(*weak, request);
  ASSERT_EQ(started.line, "ready");
  EXPECT_EQ(started.process->wait().value().verdict, Verdict::timeout);
  EXPECT_EQ(alive(), 0U);
}

TEST_F(Trees, ManagerTakesItsTreesWithIt) {
  auto mine = linux_manager().value();
  const Started started = start(*mine, request_for(bait_, {"tree", mark_}));
  ASSERT_EQ(started.line, "ready");
  mine.reset();
  EXPECT_EQ(alive(), 0U);
}

// In a process of its own, which says "ready" by a byte.
[[noreturn]] void supervise(const Request& request, int ready) {
  auto manager = linux_manager();
  if (!manager) ::_exit(1);
  Request lines = request;
  lines.out = Output::events({.mode = OutputMode::line});
  const auto process = (*manager)->create(lines).value();
  EventStream events = process->events();
  if (!process->start() || !events.next() || ::write(ready, "x", 1) != 1) ::_exit(1);
  for (;;) ::pause();
}

TEST_F(Trees, DeathOfTheSupervisorTakesThemWithIt) {
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t supervisor = ::fork();
    if (supervisor == 0) supervise(request_for(bait_, {"tree", mark_}), ends[1]);
    ::close(ends[1]);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
    // Who has only made another may be on its way out still.
    EXPECT_TRUE(support::eventually([&] { return alive() == kAll; })) << alive();
    const auto tree = marked();
    std::vector<base::Fd> ending;
    ending.reserve(tree.size());
    for (const pid_t pid : tree) {
      ending.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    }
    ::kill(supervisor, SIGKILL);
    ::waitpid(supervisor, nullptr, 0);
    for (const base::Fd& one : ending) {
      pollfd fd{.fd = one.get(), .events = POLLIN, .revents = 0};
      EXPECT_EQ(::poll(&fd, 1, 5000), 1) << "a survivor";
    }
  }
}

}  // namespace
}  // namespace cordon::escape
