// Control groups of runs that are over serve later ones: nothing of the earlier run may show.
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "linux/harness.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMegabyte = 1 << 20;

class KeptGroups : public testing::Test {
 protected:
  void SetUp() override {
    CORDON_NEEDS_SANDBOX(false);
    manager_ = make_manager();
    ASSERT_TRUE(manager_);
    const Enforcement kept = manager_->capabilities().enforcement;
    if (kept.memory.level != Guarantee::Level::enforced) {
      CORDON_SKIP_WITHOUT("cgroup", describe(kept.memory));
    }
    // From the third run on there is a stock.
    for (int i = 0; i < 3; ++i) (void)shell(":");
  }

  [[nodiscard]] static Request request(std::string script, const Limits& limits) {
    Request request{.program = "/bin/sh", .args = {"-c", std::move(script)}, .limits = limits};
    request.cwd = "/usr";
    request.timeout = 20s;
    return request;
  }
  [[nodiscard]] Outcome shell(std::string script, const Limits& limits = {}) {
    return run_to_end(*manager_, request(std::move(script), limits));
  }
  // So often that every group that is kept has served it, and is kept again.
  void run_before(const std::string& script, const Limits& limits) {
    for (int i = 0; i < 8; ++i) (void)shell(script, limits);
    (void)traces_at_rest();
  }

  std::unique_ptr<Manager> manager_;
};

// So that the others say something.
TEST_F(KeptGroups, AreUsedAgain) {
  std::set<std::string> groups;
  constexpr int kMost = 200;
  for (int i = 0; i < kMost; ++i) {
    Request waits = request("read end", {});
    waits.in = Input::pipe();
    auto process = manager_->create(waits).value();
    ASSERT_TRUE(process->start());
    std::ostringstream text;
    text << std::ifstream("/proc/" + std::to_string(*process->os_pid()) + "/cgroup").rdbuf();
    if (text.str().find("memory:") == std::string::npos) GTEST_SKIP() << "cgroup v1: not used here";
    ASSERT_TRUE(process->close_stdin());
    ASSERT_TRUE(process->wait());
    if (!groups.insert(text.str()).second) return;
  }
  FAIL() << kMost << " runs, each in a group of its own";
}

// Without another process, for which a group would not be kept.
constexpr const char* kUsesMemory =
    "x=0123456789abcdef; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 "
    "15 16 17 18 19 20; do x=$x$x; done";

TEST_F(KeptGroups, MemoryOfAnEarlierRunIsNotCounted) {
  run_before(kUsesMemory, {});
  const Outcome later = shell(":");
  EXPECT_LT(later.usage.memory_peak_bytes, 8 * kMegabyte) << to_json(later);
}

TEST_F(KeptGroups, ProcessorTimeOfAnEarlierRunIsNotCounted) {
  run_before("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", {});
  const Outcome later = shell(":");
  EXPECT_LT(*later.usage.cpu_user + *later.usage.cpu_system, 40ms) << to_json(later);
}

TEST_F(KeptGroups, ProcessesOfAnEarlierRunAreNotCounted) {
  run_before("sleep 9 & sleep 9 & sleep 9 & exit 0", {.processes = 3});
  const Outcome later = shell(":");
  EXPECT_EQ(later.usage.processes_peak, 1U) << to_json(later);
  EXPECT_TRUE(later.limits_hit.empty()) << to_json(later);
}

TEST_F(KeptGroups, KillForMemoryOfAnEarlierRunIsNotEvidence) {
  run_before(kUsesMemory, {.memory_bytes = 8 * kMegabyte});
  EXPECT_EQ(shell(":").verdict, Verdict::exited);
}

TEST_F(KeptGroups, LimitsOfAnEarlierRunAreGone) {
  run_before(":", {.memory_bytes = 16 * kMegabyte, .processes = 4});
  const Outcome later = shell("for i in 1 2 3 4 5 6; do sleep 0.1 & done; " +
                              std::string(kUsesMemory) + "; wait; test ${#x} = 16777216");
  EXPECT_EQ(later.verdict, Verdict::exited) << to_json(later);
  EXPECT_EQ(later.exit_code, 0);
}

TEST_F(KeptGroups, LimitsOfALaterRunHold) {
  run_before(":", {.memory_bytes = 512 * kMegabyte, .processes = 100});
  const Outcome later = shell(kUsesMemory, {.memory_bytes = 8 * kMegabyte});
  EXPECT_EQ(later.verdict, Verdict::memory) << to_json(later);
  EXPECT_EQ(later.limit->limit, 8 * kMegabyte);
}

}  // namespace
}  // namespace cordon::linux_tests
