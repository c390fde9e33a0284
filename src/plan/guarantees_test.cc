#include "plan/guarantees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/testing.h"

namespace cordon::plan {
namespace {

using namespace plan::testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Level = Guarantee::Level;

SandboxPlan planned(const Limits& limits, const HostCapabilities& host,
                    const Caller& caller = user(), const Request& asked = request()) {
  auto plan = make_sandbox_plan(asked, limits, caller, host);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : SandboxPlan{};
}

TEST(GuaranteesTest, WhatIsNotAskedForIsNotClaimed) {
  const auto plan = planned({}, with_groups(user_host(), CgroupVersion::v2));
  for (const auto& kept :
       {plan.enforcement.memory, plan.enforcement.cpu, plan.enforcement.processes}) {
    EXPECT_EQ(kept.level, Level::none);
    EXPECT_EQ(kept.note, "no limit was asked for");
  }
  EXPECT_EQ(plan.groups, GroupLimits{});
  EXPECT_EQ(plan.cgroup, CgroupVersion::none);
  EXPECT_FALSE(plan.sample_memory || plan.sample_processes || plan.sample_cpu);
}

TEST(GuaranteesTest, GroupsEnforceTheLimits) {
  const auto plan = planned(usual_limits(), with_groups(user_host(), CgroupVersion::v2));
  EXPECT_EQ(plan.enforcement.memory.level, Level::enforced);
  EXPECT_EQ(plan.enforcement.memory.by, "cgroup v2 memory.max");
  EXPECT_EQ(plan.enforcement.processes.by, "cgroup v2 pids.max");
  EXPECT_EQ(plan.enforcement.cpu.by, "cgroup v2 cpu.max");
  EXPECT_EQ(plan.groups.processes, 129U);  // the sandbox's init
  EXPECT_EQ(plan.cgroup_parent, "/cordon");
  EXPECT_FALSE(plan.rlimit_processes);
}

TEST(GuaranteesTest, SwapThatIsNotCountedIsDeclared) {
  auto host = with_groups(user_host(), CgroupVersion::v1);
  host.swap_limited = false;
  const auto kept = planned(usual_limits(), host).enforcement.memory;
  EXPECT_EQ(kept.level, Level::partial);
  EXPECT_EQ(kept.by, "cgroup v1 memory.limit_in_bytes");
  EXPECT_THAT(kept.note, HasSubstr("swap"));
}

TEST(GuaranteesTest, MemoryWithoutGroupIsSampledAndSaysSo) {
  const auto plan = planned(usual_limits(), user_host());
  EXPECT_TRUE(plan.sample_memory);
  EXPECT_EQ(plan.enforcement.memory.level, Level::partial);
  EXPECT_EQ(plan.enforcement.memory.by, "sampling the tree's memory and RLIMIT_DATA");
  EXPECT_THAT(plan.enforcement.memory.note, HasSubstr("sampled"));
  EXPECT_THAT(plan.enforcement.memory.note, HasSubstr("no group is delegated"));
}

TEST(GuaranteesTest, ProcessesWithoutGroupAreCountedByTheUserNamespace) {
  auto host = user_host();
  auto plan = planned(usual_limits(), host);
  EXPECT_EQ(plan.enforcement.processes.level, Level::enforced);
  EXPECT_EQ(plan.enforcement.processes.by, "RLIMIT_NPROC in a user namespace of its own");
  EXPECT_EQ(plan.rlimit_processes, 129U);

  host.kernel = "5.13.19-generic";  // counts all of the user's processes
  plan = planned(usual_limits(), host);
  EXPECT_EQ(plan.enforcement.processes.level, Level::partial);
  EXPECT_TRUE(plan.sample_processes);
  EXPECT_FALSE(plan.rlimit_processes);
}

TEST(GuaranteesTest, TheKernelDoesNotCountRootsProcesses) {
  const auto plan = planned(usual_limits(), container_host(), root());
  EXPECT_TRUE(plan.sample_processes);
  EXPECT_EQ(plan.enforcement.processes.level, Level::partial);
}

TEST(GuaranteesTest, AUserIdOfTheRunsOwnIsCountedByAnyKernel) {
  auto host = root_host();
  host.kernel = "5.4.0";
  host.cgroup_pids = {};
  const auto plan = planned(usual_limits(), host, root());
  EXPECT_EQ(plan.enforcement.processes.by, "RLIMIT_NPROC of a user id of its own");
}

TEST(GuaranteesTest, ProcessorTimeIsReadFromTheGroup) {
  const Limits time{.cpu_time = 2s};
  const auto groups = with_groups(user_host(), CgroupVersion::v1);
  auto plan = planned(time, groups);
  EXPECT_EQ(plan.enforcement.cpu.level, Level::enforced);
  EXPECT_EQ(plan.enforcement.cpu.by, "the group's processor clock");
  EXPECT_TRUE(plan.groups.cpu_clock);
  EXPECT_EQ(plan.cgroup, CgroupVersion::v1);

  plan = planned({.cpu_time = 2s, .cpu_millicores = 500}, groups);
  EXPECT_EQ(plan.enforcement.cpu.by, "cgroup v1 cpu.cfs_quota_us and the group's processor clock");

  plan = planned(time, user_host());
  EXPECT_EQ(plan.enforcement.cpu.level, Level::partial);
  EXPECT_THAT(plan.enforcement.cpu.note, HasSubstr("sampled"));
  EXPECT_TRUE(plan.sample_cpu);
}

TEST(GuaranteesTest, AShareOfTheProcessorsNeedsAGroup) {
  auto kept = planned({.cpu_millicores = 500}, user_host()).enforcement.cpu;
  EXPECT_EQ(kept.level, Level::none);
  EXPECT_THAT(kept.note, HasSubstr("no group is delegated"));
  kept = planned({.cpu_time = 1s, .cpu_millicores = 500}, user_host()).enforcement.cpu;
  EXPECT_EQ(kept.level, Level::partial);
  EXPECT_THAT(kept.note, HasSubstr("the share of the processors is not enforced"));
}

TEST(GuaranteesTest, SocketsBelowAGrantAreDeclared) {
  const std::string gap = "a unix socket below a grant can be connected to; --no-unix stops that";
  auto host = user_host();
  auto kept = planned({}, host).enforcement.filesystem;
  EXPECT_EQ(kept.level, Level::enforced);
  EXPECT_EQ(kept.by, "mount namespace and Landlock ABI 7");
  EXPECT_EQ(kept.note, gap);

  Request asked = request();
  asked.unix_sockets = false;
  EXPECT_THAT(planned({}, host, user(), asked).enforcement.filesystem.note, IsEmpty());
  asked = request();
  asked.cwd = "/usr";  // nothing is granted
  EXPECT_THAT(planned({}, host, user(), asked).enforcement.filesystem.note, IsEmpty());
  host.landlock_abi = 9;
  EXPECT_THAT(planned({}, host).enforcement.filesystem.note, IsEmpty());

  kept = planned({}, container_host()).enforcement.filesystem;
  EXPECT_EQ(kept.level, Level::enforced);
  EXPECT_EQ(kept.by, "mount namespace");
  EXPECT_EQ(kept.note, "no Landlock behind it (the container's filter refuses it); " + gap);
}

TEST(GuaranteesTest, TheHostsNetworkIsNoIsolation) {
  Request asked = request();
  EXPECT_EQ(planned({}, user_host()).enforcement.network.level, Level::enforced);
  asked.network = Network::loopback;
  EXPECT_EQ(planned({}, user_host(), user(), asked).enforcement.network.level, Level::enforced);
  asked.network = Network::host;
  const auto kept = planned({}, user_host(), user(), asked).enforcement.network;
  EXPECT_EQ(kept.level, Level::none);
  EXPECT_THAT(kept.note, HasSubstr("--net host"));
}

TEST(KernelTest, VersionsAreComparedAsNumbers) {
  EXPECT_TRUE(kernel_at_least("5.14.0-427.el9", 5, 14));
  EXPECT_TRUE(kernel_at_least("6.1", 5, 14));
  EXPECT_TRUE(kernel_at_least("10.0", 5, 14));
  EXPECT_FALSE(kernel_at_least("5.4.0", 5, 14));
  EXPECT_FALSE(kernel_at_least("4.19", 5, 14));
  for (const char* text : {"", "6", "6.", "six.one", "."}) {
    EXPECT_FALSE(kernel_at_least(text, 5, 14)) << text;
  }
}

}  // namespace
}  // namespace cordon::plan
