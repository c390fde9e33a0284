// The profiles that need no file.
#include "policy/builtin_profiles.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "cordon/request.h"
#include "policy/testing.h"

namespace cordon::policy {
namespace {

using testing::HasSubstr;

TEST(BuiltinProfile, CannotBeAskedForMoreThanItAllows) {
  const Policy policy = policy_of({}, "mcp");
  ASSERT_EQ(policy.ceilings.size(), 1U);
  EXPECT_EQ(policy.digest.size(), 64U);
  EXPECT_EQ(refusal(evaluate_all(policy, {})), "");
  EXPECT_THAT(refusal(evaluate_all(policy, {}, {.backend = "posix", .isolates = false})),
              HasSubstr("built-in profile mcp"));
  Asks preload;
  preload.request.env.push_back({.name = "LD_PRELOAD", .value = "/x.so"});
  EXPECT_THAT(refusal(evaluate_all(policy, preload)), HasSubstr("allow_dangerous"));
  Asks home;
  home.request.grants.push_back({.kind = Grant::Kind::read, .source = "/home/me"});
  EXPECT_THAT(refusal(evaluate_all(policy, home)), HasSubstr("/home/me/.ssh"));
  Asks notes;
  notes.request.grants.push_back({.kind = Grant::Kind::read, .source = "/home/me/notes"});
  EXPECT_EQ(refusal(evaluate_all(policy, notes)), "");
}

TEST(BuiltinProfile, MindsWhereTheCallerIsOnlyIfTheProgramWouldSeeIt) {
  const Policy policy = policy_of({}, "mcp");
  EXPECT_THAT(refusal(evaluate_all(policy, {}, {.cwd = "/home/me"})), HasSubstr("/home/me/.ssh"));
  const Evaluation own = evaluate_all(policy, {}, {.cwd = "/home/me", .own_directory = true});
  EXPECT_EQ(refusal(own), "");
  EXPECT_EQ(own.request.cwd, "");
  Asks asks;
  asks.request.cwd = "/home/me";
  EXPECT_THAT(refusal(evaluate_all(policy, asks, {.cwd = "/home/me", .own_directory = true})),
              HasSubstr("/home/me/.ssh"));
}

TEST(BuiltinProfile, LeavesAServerItsTimeUnlessAFileDoesNot) {
  EXPECT_EQ(evaluate_all(policy_of({}, "mcp"), {}).request.timeout, kNoTimeout);
  const Policy bounded = policy_of({{"site.toml", "[limits]\ntimeout = \"1h\"\n"}}, "mcp");
  EXPECT_EQ(evaluate_all(bounded, {}).request.timeout, std::chrono::hours(1));
}

TEST(BuiltinProfile, GrantsTheNetworkOnlyToWhoAsksForIt) {
  const Policy policy = policy_of({}, "mcp");
  EXPECT_EQ(evaluate_all(policy, {}).request.network, Network::none);
  Asks asks;
  asks.request.network = Network::host;
  const Evaluation allowed = evaluate_all(policy, asks);
  EXPECT_EQ(refusal(allowed), "");
  EXPECT_EQ(allowed.request.network, Network::host);
}

TEST(BuiltinProfile, PassesTheUsualVariables) {
  const Policy policy = policy_of({}, "mcp");
  std::vector<std::string> passed;
  for (const auto& one : policy.ceilings.front().env.pass->value) passed.push_back(one.value);
  EXPECT_THAT(passed, testing::UnorderedElementsAreArray(default_env_pass()));
}

TEST(BuiltinProfile, HoldsBesidesOneOfTheSameNameInAFile) {
  const Policy policy =
      policy_of({{"site.toml", "[profiles.mcp.limits]\nmemory = \"64M\"\n"}}, "mcp");
  EXPECT_EQ(policy.ceilings.size(), 3U);
  EXPECT_EQ(evaluate_all(policy, {}).request.limits.memory_bytes, 64U << 20U);
  EXPECT_TRUE(gives_workdir(policy));
}

TEST(BuiltinProfile, SaysWhatEveryServerGets) {
  const LimitValues defaults = mcp_defaults();
  ASSERT_TRUE(defaults.timeout && defaults.workdir && defaults.cpu);
  EXPECT_EQ(defaults.timeout->value, kNoTimeout);
  EXPECT_TRUE(defaults.workdir->value);
}

TEST(BuiltinProfile, IsWhatAServerGetsWithoutAskingWithinWhatFilesAllow) {
  const Surroundings server{.preferred = mcp_defaults()};
  const Request free = evaluate_all({}, {}, server).request;
  EXPECT_EQ(free.timeout, kNoTimeout);
  EXPECT_EQ(free.limits.cpu_millicores, 2000U);
  const Policy site = policy_of({{"site.toml", "[limits]\ntimeout = \"1h\"\ncpu = 500\n"}});
  const Evaluation bounded = evaluate_all(site, {}, server);
  EXPECT_EQ(refusal(bounded), "") << "nobody has asked for more";
  EXPECT_EQ(bounded.request.timeout, std::chrono::hours(1));
  EXPECT_EQ(bounded.request.limits.cpu_millicores, 500U);
  const Policy own = policy_of({{"site.toml", "[defaults]\ncpu = 4000\n"}});
  EXPECT_EQ(evaluate_all(own, {}, server).request.limits.cpu_millicores, 4000U);
}

TEST(BuiltinProfile, NoneOnlyMeansNoTimeAtAllWhereADefaultIsMeant) {
  EXPECT_THAT(error_of("[limits]\ntimeout = \"none\"\n"), HasSubstr("limits.timeout"));
  EXPECT_THAT(error_of("[limits]\nworkdir = true\n"), HasSubstr("workdir"));
  EXPECT_FALSE(gives_workdir(policy_of({{"site.toml", "[defaults]\nworkdir = false\n"}})));
  EXPECT_TRUE(gives_workdir(policy_of({{"site.toml", "[defaults]\nworkdir = true\n"}})));
}

}  // namespace
}  // namespace cordon::policy
