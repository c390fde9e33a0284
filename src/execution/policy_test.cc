// The public Policy: files in, a request that may be run out.
#include "cordon/policy.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "execution/test_folder.h"
#include "support/must_work.h"

namespace cordon::execution {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PolicyTest : public FolderTest {
 protected:
  [[nodiscard]] Policy load(const std::string& text) const {
    auto policy = Policy::load({file("p.toml", text)});
    EXPECT_TRUE(policy) << policy.error().message;
    return *std::move(policy);
  }
  [[nodiscard]] static std::string refusal(const Policy& policy, const Request& request) {
    const auto allowed = policy.apply(request, "linux");
    if (allowed) return "";
    EXPECT_EQ(allowed.error().code, ErrorCode::not_permitted);
    EXPECT_EQ(allowed.error().stage, "policy");
    return allowed.error().message;
  }
};

TEST_F(PolicyTest, FillsInDefaultsAndRefusesMore) {
  const Policy policy = load("[limits]\nmemory = \"64M\"\n[paths]\ncwd = [\"/\"]\n");
  Request request{.program = "true"};
  const auto allowed = policy.apply(request, "linux");
  ASSERT_TRUE(allowed) << allowed.error().message;
  EXPECT_EQ(allowed->request.limits.memory_bytes, 64U * 1024 * 1024);
  EXPECT_TRUE(allowed->request.links_resolved);
  EXPECT_EQ(policy.digest().size(), 64U);
  request.limits.memory_bytes = 65U * 1024 * 1024;
  EXPECT_THAT(refusal(policy, request), HasSubstr("--memory: memory 65M is more than"));
}

TEST_F(PolicyTest, GrantsAreJudgedByWhereTheyLead) {
  fs::create_directory(path("allowed"));
  fs::create_directory(path("secret"));
  fs::create_directory_symlink(path("secret"), path("allowed/link"));
  const Policy policy = load("[paths]\ncwd = [\"/\"]\nread = [\"" + path("allowed") + "\"]\n");
  EXPECT_EQ(refusal(policy, {.program = "true", .grants = {Grant::read(path("allowed"))}}), "");
  EXPECT_THAT(refusal(policy, {.program = "true", .grants = {Grant::read(path("allowed/link"))}}),
              HasSubstr("read of " + path("secret") + " is not below what"));
  const auto missing =
      policy.apply({.program = "true", .grants = {Grant::read(path("none"))}}, "linux");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::invalid_argument);
}

TEST_F(PolicyTest, TheWorkingDirectoryIsJudgedByWhereItLeads) {
  fs::create_directory(path("allowed"));
  fs::create_directory_symlink("/usr", path("allowed/link"));
  const Policy policy = load("allowed_paths = [\"" + path("allowed") + "\"]\n");
  EXPECT_EQ(refusal(policy, {.program = "true", .cwd = path("allowed")}), "");
  EXPECT_THAT(refusal(policy, {.program = "true", .cwd = path("allowed/link")}),
              HasSubstr("--cwd: cwd of /usr is not below what"));
}

TEST_F(PolicyTest, OnlyAllowedProgramsArePassedOnAndPinned) {
  const std::string shell = fs::canonical("/bin/sh");
  const Policy policy = load("allowed_programs = [\"" + shell + "\"]\n");
  const auto allowed = policy.apply({.program = "sh"}, "linux");
  ASSERT_TRUE(allowed) << allowed.error().message;
  ASSERT_EQ(allowed->request.pins.size(), 1U);
  EXPECT_EQ(allowed->request.pins.front().path, shell);
  EXPECT_THAT(refusal(policy, {.program = "env"}), HasSubstr("is not among those that"));
  const std::string script = file("script", "#!/bin/sh\n", 0700);
  EXPECT_THAT(refusal(policy, {.program = script}), HasSubstr("the program " + script));
}

TEST_F(PolicyTest, ChosenUsersAreLookedUp) {
  const Policy policy = load("users = [\"nobody\"]\n");
  const std::uint32_t nogroup = 65534;
  EXPECT_EQ(refusal(policy, {.program = "true", .user = User{65534, nogroup}}), "");
  EXPECT_THAT(refusal(policy, {.program = "true", .user = User{65534, 0}}),
              HasSubstr("the user nobody:root is not among"));
}

TEST_F(PolicyTest, WithoutAnyFileOnlyPatternsAreNarrowed) {
  auto policy = Policy::load({});
  ASSERT_TRUE(policy);
  if (!policy->digest().empty()) {
    CORDON_SKIP_WITHOUT("no-site-policy", "this machine has a site policy");
  }
  ::setenv("LD_TEST_OF_CORDON", "1", 1);
  ::setenv("TEST_OF_CORDON", "1", 1);
  Request request{.program = "true"};
  request.env_pass = {"*TEST_OF_CORDON"};
  const auto allowed = policy->apply(request, "linux");
  ASSERT_TRUE(allowed);
  EXPECT_EQ(allowed->request.env_pass, std::vector<std::string>{"TEST_OF_CORDON"});
  EXPECT_FALSE(allowed->request.links_resolved);
}

}  // namespace
}  // namespace cordon::execution
