#include "plan/sandbox_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/testing.h"

namespace cordon::plan {
namespace {

using namespace plan::testing;
using ::testing::HasSubstr;

void expect_error(const Result<SandboxPlan>& plan, ErrorCode code, const std::string& says) {
  ASSERT_FALSE(plan) << "expected: " << says;
  EXPECT_EQ(plan.error().code, code);
  EXPECT_EQ(plan.error().stage, "plan");
  EXPECT_THAT(plan.error().message, HasSubstr(says));
}

TEST(SandboxPlanTest, RunsNothingWithoutWhatItStandsFor) {
  const std::pair<const char*, Feature HostCapabilities::*> needed[] = {
      {"user namespace", &HostCapabilities::user_namespace},
      {"mount namespace", &HostCapabilities::mount_namespace},
      {"pid namespace", &HostCapabilities::pid_namespace},
      {"network namespace", &HostCapabilities::network_namespace},
      {"/proc of the sandbox's own", &HostCapabilities::proc_mount},
      {"seccomp", &HostCapabilities::seccomp},
  };
  for (const auto& [name, feature] : needed) {
    auto host = user_host();
    host.*feature = {.works = false, .why = "it is turned off", .fix = "turn it on"};
    const auto plan = make_sandbox_plan(request(), {}, user(), host);
    expect_error(plan, ErrorCode::unsupported, name);
    expect_error(plan, ErrorCode::unsupported, "it is turned off; turn it on");
  }
}

TEST(SandboxPlanTest, TheHostsNetworkNeedsNoNamespace) {
  auto host = user_host();
  host.network_namespace = {};
  Request asked = request();
  asked.network = Network::host;
  EXPECT_TRUE(make_sandbox_plan(asked, {}, user(), host));
}

TEST(IdentityTest, AnOrdinaryCallersProgramRunsAsTheCaller) {
  const auto plan = make_sandbox_plan(request(), {}, user(), user_host());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->identity.uid, 1001U);
  EXPECT_EQ(plan->identity.gid, 1002U);
  EXPECT_EQ(plan->identity.host, (User{1001, 1002}));
}

TEST(IdentityTest, ARootCallersProgramHasAnIdOfItsOwn) {
  const auto plan = make_sandbox_plan(request(), {}, root(), root_host());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->identity.uid, 1000U);
  EXPECT_EQ(plan->identity.gid, 1000U);
  EXPECT_FALSE(plan->identity.host);
}

TEST(IdentityTest, RootWithoutCapabilitiesMapsItself) {
  const auto plan = make_sandbox_plan(request(), {}, root(), container_host());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->identity.uid, 1000U);
  EXPECT_EQ(plan->identity.host, (User{0, 0}));
}

TEST(IdentityTest, OnlyRootChoosesAnotherUser) {
  Request asked = request();
  asked.user = User{33, 33};
  const auto plan = make_sandbox_plan(asked, {}, root(), root_host());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->identity.uid, 33U);
  EXPECT_EQ(plan->identity.host, (User{33, 33}));
  expect_error(make_sandbox_plan(asked, {}, user(), user_host()), ErrorCode::not_permitted,
               "only root may");
  expect_error(make_sandbox_plan(asked, {}, root(), container_host()), ErrorCode::not_permitted,
               "only root may");
  asked.user = User{1001, 1002};
  EXPECT_TRUE(make_sandbox_plan(asked, {}, user(), user_host()));
}

TEST(IdentityTest, NobodyChoosesRoot) {
  Request asked = request();
  for (const User& user_asked : {User{0, 0}, User{0, 5}, User{5, 0}}) {
    asked.user = user_asked;
    expect_error(make_sandbox_plan(asked, {}, root(), root_host()), ErrorCode::not_permitted,
                 "never root on the host: choose another user");
    expect_error(make_sandbox_plan(asked, {}, user(), user_host()), ErrorCode::not_permitted,
                 "never root on the host");
  }
}

TEST(SandboxPlanTest, EndingAtTheProcessLimitNeedsAGroup) {
  Request asked = request();
  asked.end_at_process_limit = true;
  const auto groups = with_groups(user_host(), CgroupVersion::v2);
  EXPECT_TRUE(make_sandbox_plan(asked, usual_limits(), user(), groups));
  expect_error(make_sandbox_plan(asked, usual_limits(), user(), user_host()),
               ErrorCode::unsupported, "leave --pids-kill out");
  expect_error(make_sandbox_plan(asked, {}, user(), groups), ErrorCode::invalid_argument,
               "add --pids N");
}

TEST(SandboxPlanTest, AGroupThatWasNamedHasToBePossible) {
  Request asked = request();
  asked.cgroup_parent = "/mine";
  expect_error(make_sandbox_plan(asked, usual_limits(), user(), user_host()),
               ErrorCode::unsupported, "--cgroup-parent /mine");
  const auto plan = make_sandbox_plan(asked, usual_limits(), root(), root_host());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->cgroup_parent, "/mine");
}

TEST(SandboxPlanTest, RootsWriteGrantsNeedIdmappedMounts) {
  auto host = root_host();
  host.idmapped_mounts = {.works = false, .why = "the kernel is too old", .fix = {}};
  expect_error(make_sandbox_plan(request({Grant::write("/data")}), {}, root(), host),
               ErrorCode::unsupported, "grant write of /data");
  EXPECT_TRUE(
      make_sandbox_plan(request({Grant::read("/data"), Grant::tmpfs("/x")}), {}, root(), host));
  Request asked = request({Grant::write("/data")});
  asked.user = User{33, 33};
  EXPECT_TRUE(make_sandbox_plan(asked, {}, root(), host));
  EXPECT_TRUE(make_sandbox_plan(request({Grant::write("/data")}), {}, user(), user_host()));
}

TEST(SandboxPlanTest, BadGrantsAndDirectoriesAreErrorsOfThePlan) {
  expect_error(make_sandbox_plan(request({Grant::read("/")}), {}, user(), user_host()),
               ErrorCode::invalid_argument, "the whole root");
  Caller at_home = user();
  at_home.cwd = at_home.home;
  expect_error(make_sandbox_plan(request(), {}, at_home, user_host()), ErrorCode::invalid_argument,
               "your home directory");
}

}  // namespace
}  // namespace cordon::plan
