#include "plan/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "plan/testing.h"

namespace cordon::plan {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Request with(Secret::Delivery delivery, std::vector<Grant> grants = {}) {
  Request request = testing::request(std::move(grants));
  request.secrets = {{"TOKEN", SecretValue::copy_of("hunter2").value(), delivery}};
  return request;
}

Result<SandboxPlan> plan_of(const Request& request) {
  return make_sandbox_plan(request, testing::usual_limits(), testing::root(), testing::root_host());
}

bool has_directory(const SandboxPlan& plan) {
  return std::ranges::find(plan.root, View::Kind::secrets, &View::kind) != plan.root.end();
}

TEST(SecretsPlan, OnlyFilesNeedADirectory) {
  EXPECT_TRUE(has_directory(plan_of(with(Secret::Delivery::file)).value()));
  EXPECT_FALSE(has_directory(plan_of(with(Secret::Delivery::fd)).value()));
  EXPECT_FALSE(has_directory(plan_of(with(Secret::Delivery::env)).value()));
}

TEST(SecretsPlan, ShowsNamesAndNoValues) {
  const Plan plan = describe(plan_of(with(Secret::Delivery::file)).value());
  std::vector<std::string> lines;
  for (const PlanStep& step : plan.steps) lines.push_back(step.name + ": " + step.detail);
  EXPECT_THAT(lines, Contains("secret: TOKEN by file"));
  EXPECT_THAT(lines, Contains("mount: /run/secrets, secrets in memory, read-only"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("hunter2"))));
}

TEST(SecretsPlan, NoGrantLiesWhereFilesAreDelivered) {
  for (const Grant& grant :
       {Grant::read("/run/secrets"), Grant::write("/run/secrets/TOKEN"),
        Grant::tmpfs("/run/secrets"), Grant::bind("/srv", "/run", Grant::Kind::read)}) {
    const auto refused = plan_of(with(Secret::Delivery::file, {grant}));
    ASSERT_FALSE(refused) << grant.target;
    EXPECT_THAT(refused.error().message, HasSubstr("/run/secrets"));
    EXPECT_TRUE(plan_of(with(Secret::Delivery::env, {grant}))) << grant.target;
  }
  EXPECT_TRUE(plan_of(with(Secret::Delivery::file, {Grant::tmpfs("/run")})));
}

}  // namespace
}  // namespace cordon::plan
