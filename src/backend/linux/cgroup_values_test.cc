#include "backend/linux/cgroup_values.h"

#include <gtest/gtest.h>

namespace cordon::linux_backend {
namespace {

TEST(CgroupValues, NumberIsTheWholeText) {
  EXPECT_EQ(number("4096\n"), 4096U);
  EXPECT_EQ(number("max\n"), std::nullopt);
  EXPECT_EQ(number("12 13\n"), std::nullopt);
  EXPECT_EQ(number(""), std::nullopt);
}

TEST(CgroupValues, FieldIsFoundByItsWholeKey) {
  constexpr auto kText = "oom_kill_disable 0\nunder_oom 1\noom_kill 7\n";
  EXPECT_EQ(field(kText, "oom_kill"), 7U);
  EXPECT_EQ(field(kText, "under_oom"), 1U);
  EXPECT_EQ(field(kText, "oom"), std::nullopt);
  EXPECT_EQ(field("max 3", "max"), 3U);
}

TEST(CgroupValues, WordsAreWhole) {
  EXPECT_TRUE(has_word("cpuset cpu io memory pids\n", "cpu"));
  EXPECT_FALSE(has_word("cpuset io memory\n", "cpu"));
  EXPECT_FALSE(has_word("\n", "cpu"));
}

TEST(CgroupValues, SmallestCpuShareIsStillAtLeastAMillisecond) {
  EXPECT_EQ(cpu_quota(1500).quota_us, 150'000U);
  EXPECT_EQ(cpu_quota(1500).period_us, 100'000U);
  EXPECT_EQ(cpu_quota(10).quota_us, 1000U);
  EXPECT_EQ(cpu_quota(1).quota_us, 1000U);
  EXPECT_EQ(cpu_quota(1).period_us, 1'000'000U);
  EXPECT_EQ(cpu_quota(9).quota_us, 9000U);
}

TEST(CgroupValues, ProcessLimitBeyondTheKernelsIsNoLimit) {
  EXPECT_EQ(pids_value(64), "64");
  EXPECT_EQ(pids_value(1ULL << 40U), "max");
}

}  // namespace
}  // namespace cordon::linux_backend
