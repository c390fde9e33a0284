// Groups that serve several runs one after the other.
#include <chrono>

#include "backend/linux/cgroup.h"
#include "backend/linux/cgroup_test_support.h"

namespace cordon::linux_backend {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = 1024 * 1024;

int spin() {
  volatile int turns = 0;
  while (turns < 20'000'000) turns = turns + 1;
  return 0;
}

bool ended_well(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

class CgroupRenewTest : public CgroupTest {
 protected:
  void SetUp() override {
    CgroupTest::SetUp();
    if (testing::Test::IsSkipped() || testing::Test::HasFatalFailure()) return;
    if (parent_->version() == plan::CgroupVersion::v2) GTEST_SKIP() << "cgroup v1: not used here";
  }
};

TEST_F(CgroupRenewTest, CountsNothingOfWhatWasBefore) {
  const auto group = make();
  ASSERT_TRUE(ended_well(status_of(start(group.get(), [] { return touch(32 * kMiB) + spin(); }))));
  ASSERT_GE(group->usage().memory_peak_bytes, 32 * kMiB);
  ASSERT_GT(*group->usage().cpu_user + *group->usage().cpu_system, 1ms);
  ASSERT_TRUE(group->renew());
  EXPECT_LE(group->usage().memory_peak_bytes, kMiB);
  EXPECT_EQ(*group->usage().cpu_user + *group->usage().cpu_system, 0ms);
}

TEST_F(CgroupRenewTest, HasNoLimitThatIsNotAskedFor) {
  const auto group = make({.memory_bytes = 16 * kMiB, .processes = 4, .cpu_millicores = 50});
  ASSERT_TRUE(group->renew());
  ASSERT_TRUE(group->set_all({}));
  const pid_t inside = start(group.get(), [] { return ::pause(); });
  const std::string text = cgroup_text(inside);
  EXPECT_EQ(text_of(directory_of(text, "cpu") + "/cpu.cfs_quota_us"), "-1\n");
  EXPECT_EQ(text_of(directory_of(text, "pids") + "/pids.max"), "max\n");
  EXPECT_TRUE(ended_well(status_of(start(group.get(), [] { return touch(64 * kMiB); }))));
}

TEST_F(CgroupRenewTest, HasTheLimitsThatAreAskedForAgain) {
  const auto group = make({.memory_bytes = 64 * kMiB, .processes = 4});
  ASSERT_TRUE(group->renew());
  ASSERT_TRUE(group->set_all({.memory_bytes = 16 * kMiB, .processes = 4}));
  EXPECT_FALSE(ended_well(status_of(start(group.get(), [] { return touch(48 * kMiB); }))));
  EXPECT_EQ(group->usage().oom_kills, 1U);
}

TEST_F(CgroupRenewTest, IsRefusedWhileSomebodyIsInside) {
  const auto group = make();
  start(group.get(), [] { return ::pause(); });
  EXPECT_FALSE(group->renew());
}

TEST_F(CgroupRenewTest, IsRefusedAfterAKillForMemory) {
  const auto group = make({.memory_bytes = 16 * kMiB});
  ASSERT_FALSE(ended_well(status_of(start(group.get(), [] { return touch(64 * kMiB); }))));
  EXPECT_FALSE(group->renew());
}

TEST_F(CgroupRenewTest, IsRefusedAfterMoreProcessesThanTheNextRunBeginsWith) {
  const auto group = make();
  const auto three = [] {
    for (int i = 0; i < 2; ++i) {
      if (const pid_t pid = ::fork(); pid == 0) ::_exit(::usleep(50'000));
    }
    while (::wait(nullptr) > 0) {
    }
    return 0;
  };
  ASSERT_TRUE(ended_well(status_of(start(group.get(), three))));
  EXPECT_FALSE(group->renew());
}

TEST_F(CgroupRenewTest, IsRefusedAfterItsProcessesWereKilled) {
  const auto group = make();
  const pid_t inside = start(group.get(), [] { return ::pause(); });
  group->kill();
  (void)status_of(inside);
  EXPECT_FALSE(group->renew());
}

}  // namespace
}  // namespace cordon::linux_backend
