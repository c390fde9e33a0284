// Many runs in a row. `make soak` sets the counts; alone, the tests do about a percent of it.
//   CORDON_SOAK_RUNS  CORDON_SOAK_TIMEOUTS  CORDON_SOAK_FORK_BOMBS  CORDON_SOAK_MEMORY_BOMBS
//   CORDON_SOAK_TIMING  set: how late a run may end is checked too
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "linux/harness.h"
#include "support/must_work.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr std::uint64_t kMegabyte = 1 << 20;

class ManyRuns : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_sandbox()) CORDON_SKIP_WITHOUT("linux", "no sandbox can be made here");
  }
};

// Where runs could leave files: other runs on the same machine use the usual places too.
std::size_t temporary_files(const Folder& temporary) {
  std::size_t count = 0;
  for (const std::string& folder : {temporary.path(), std::string("/run/cordon")}) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      // Where commands with a policy count the runs that are alive; it stays.
      count += entry.path() == "/run/cordon/live" ? 0 : 1;
    }
  }
  return count;
}

TEST_F(ManyRuns, LeaveNothingAndGrowNothing) {
  const int count = count_from("CORDON_SOAK_RUNS", 100);
  in_own_process([count] {
    const Folder folder;
    const Folder temporary;
    ASSERT_EQ(::setenv("TMPDIR", temporary.path().c_str(), 1), 0);
    auto manager = make_manager();
    ASSERT_TRUE(manager);
    int done = 0;
    const auto request = [&] {
      Request asked = misbehave({"say", folder.path("ran")});
      asked.grants.push_back(Grant::write(folder.path()));
      asked.limits.memory_bytes = 256 * kMegabyte;
      asked.limits.processes = 16;
      return asked;
    };
    const auto run = [&] {
      const Outcome outcome = run_to_end(*manager, request());
      EXPECT_EQ(outcome.exit_code, 0) << to_json(outcome);
      ++done;
    };
    make_ids(*manager, request());
    const int warm_up = std::max(20, count / 10);
    for (int i = 0; i < warm_up; ++i) run();
    const Traces before = traces_at_rest();
    const std::size_t files = temporary_files(temporary);
    const std::size_t memory = resident_bytes();
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) run();
    EXPECT_EQ(traces_settled(before), before);
    EXPECT_EQ(temporary_files(temporary), files);
    const auto grown = static_cast<long long>(resident_bytes()) - static_cast<long long>(memory);
    constexpr long long kNoise = 1 << 20;
    if (!kKeepsFreedMemory) {
      EXPECT_LE(grown, kNoise);
    }
    std::printf("figure: %d runs, memory grown by %lld KiB\n", done, grown / 1024);
  });
}

TEST_F(ManyRuns, EndInTimeHoweverStubborn) {
  const int count = count_from("CORDON_SOAK_TIMEOUTS", 10);
  in_own_process([count] {
    auto manager = make_manager();
    ASSERT_TRUE(manager);
    const std::string mark = "cordon-late-" + std::to_string(::getpid());
    constexpr Duration kTimeout = 100ms;
    std::vector<Duration> late;
    for (int i = 0; i < count; ++i) {
      Request request = misbehave({"stubborn", mark});
      request.timeout = kTimeout;
      request.grace = Duration{0};
      const Outcome outcome = run_to_end(*manager, std::move(request));
      EXPECT_EQ(outcome.verdict, Verdict::timeout) << to_json(outcome);
      EXPECT_EQ(outcome.output_bytes, 6U) << "the tree was not complete";
      EXPECT_THAT(processes_marked(mark), IsEmpty());
      late.push_back(outcome.wall - kTimeout);
    }
    std::ranges::sort(late);
    const Duration p99 = late[(late.size() * 99 - 1) / 100];
    if (std::getenv("CORDON_SOAK_TIMING") != nullptr) {
      EXPECT_LE(p99, 50ms);
    }
    std::printf(
        "figure: %d trees ended, p50 %.1f ms, p99 %.1f ms, latest %.1f ms after the deadline\n",
        count, static_cast<double>((late[late.size() / 2]) / 1us) / 1000,
        static_cast<double>(p99 / 1us) / 1000, static_cast<double>(late.back() / 1us) / 1000);
  });
}

TEST_F(ManyRuns, ContainForkBombs) {
  const int count = count_from("CORDON_SOAK_FORK_BOMBS", 5);
  in_own_process([count] {
    auto manager = make_manager();
    ASSERT_TRUE(manager);
    constexpr std::uint64_t kMost = 32;
    std::uint64_t peak = 0;
    const std::string mark = "fork-bomb-" + std::to_string(::getpid());
    for (int i = 0; i < count; ++i) {
      Request request = misbehave({"fork-bomb", mark});
      request.limits.processes = kMost;
      request.timeout = 100ms;
      request.grace = Duration{0};
      const Outcome outcome = run_to_end(*manager, std::move(request));
      EXPECT_EQ(outcome.verdict, Verdict::timeout) << to_json(outcome);
      EXPECT_THAT(processes_marked(mark), IsEmpty());
      peak = std::max(peak, outcome.usage.processes_peak.value_or(0));
    }
    EXPECT_LE(peak, kMost);
    std::printf("figure: %d fork bombs, at most %llu processes of %llu allowed\n", count,
                static_cast<unsigned long long>(peak), static_cast<unsigned long long>(kMost));
  });
}

TEST_F(ManyRuns, ContainMemoryBombs) {
  const int count = count_from("CORDON_SOAK_MEMORY_BOMBS", 5);
  in_own_process([count] {
    auto manager = make_manager();
    ASSERT_TRUE(manager);
    constexpr std::uint64_t kMost = 64 * kMegabyte;
    std::uint64_t peak = 0;
    for (int i = 0; i < count; ++i) {
      Request request = misbehave({"memory-bomb"});
      request.limits.memory_bytes = kMost;
      request.timeout = 30s;
      const Outcome outcome = run_to_end(*manager, std::move(request));
      // Killed for it, or refused by its allocator where there is no control group.
      EXPECT_TRUE(outcome.verdict == Verdict::memory || outcome.exit_code == 3) << to_json(outcome);
      peak = std::max(peak, outcome.usage.memory_peak_bytes.value_or(0));
    }
    if (manager->capabilities().enforcement.memory.level == Guarantee::Level::enforced) {
      EXPECT_LE(peak, kMost);
    }
    std::printf("figure: %d memory bombs, at most %llu KiB of %llu KiB allowed\n", count,
                static_cast<unsigned long long>(peak / 1024),
                static_cast<unsigned long long>(kMost / 1024));
  });
}

}  // namespace
}  // namespace cordon::linux_tests
