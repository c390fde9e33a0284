// Nothing survives the end of a run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "escape/runs.h"

namespace cordon::escape {
namespace {

using namespace std::chrono_literals;

class Trees : public Sandboxed {
 protected:
  const std::string mark_ = "tree-of-" + std::to_string(::getpid());

  // Processes with the mark on their command lines.
  [[nodiscard]] long alive() const {
    long count = 0;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
      std::ifstream file(entry.path() / "cmdline");
      const std::string line{std::istreambuf_iterator<char>(file), {}};
      if (line.find(mark_) != std::string::npos) ++count;
    }
    return count;
  }
  static constexpr long kAll = 8;  // the program, six that stay, one of which has a parent
};

TEST_F(Trees, StubbornTreeIsGoneAfterTimeout) {
  Request request = request_for(bait_, {"tree", mark_});
  request.timeout = 1s;
  request.grace = 100ms;
  const Started started = start(request);
  ASSERT_EQ(started.line, "ready");
  EXPECT_EQ(alive(), kAll);
  const Outcome outcome = started.process->wait().value();
  EXPECT_EQ(alive(), 0);
  EXPECT_EQ(outcome.verdict, Verdict::timeout);
  EXPECT_LT(outcome.wall, 3s);
}

TEST_F(Trees, StubbornTreeIsGoneAfterKill) {
  const Started started = start(request_for(bait_, {"tree", mark_}));
  ASSERT_EQ(started.line, "ready");
  ASSERT_TRUE(started.process->kill());
  EXPECT_EQ(started.process->wait().value().verdict, Verdict::cancelled);
  EXPECT_EQ(alive(), 0);
}

TEST_F(Trees, TracedTreeIsGoneAfterTimeoutEvenWithoutTheFilter) {  // TRACEME works then
  const auto weak = manager_without({"seccomp"}).value();
  Request request = request_for(bait_, {"tree", mark_});
  request.timeout = 1s;
  const Started started = start(*weak, request);
  ASSERT_EQ(started.line, "ready");
  EXPECT_EQ(started.process->wait().value().verdict, Verdict::timeout);
  EXPECT_EQ(alive(), 0);
}

TEST_F(Trees, ManagerTakesItsTreesWithIt) {
  auto mine = linux_manager().value();
  const Started started = start(*mine, request_for(bait_, {"tree", mark_}));
  ASSERT_EQ(started.line, "ready");
  mine.reset();
  EXPECT_EQ(alive(), 0);
}

}  // namespace
}  // namespace cordon::escape
