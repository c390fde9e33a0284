#include "backend/linux/plan_cache.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "plan/testing.h"

namespace cordon::linux_backend {
namespace {

class PlanCacheTest : public testing::Test {
 protected:
  static Request usual() {
    Request request;
    request.program = "/bin/true";
    request.cwd = "/srv/work";
    return request;
  }
  SharedPlan plan(const Request& request, const Limits& limits = {}) {
    auto made = cache_.plan(request, limits, caller_, host_);
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : nullptr;
  }

  PlanCache cache_;
  plan::HostCapabilities host_ = plan::testing::root_host();
  plan::Caller caller_{.uid = 0, .gid = 0, .cwd = "/srv/work", .home = "/root"};
};

TEST_F(PlanCacheTest, SameRequestHasTheSamePlan) {
  const SharedPlan first = plan(usual());
  EXPECT_EQ(plan(usual()), first);
  const auto fresh = plan::make_sandbox_plan(usual(), {}, caller_, host_);
  EXPECT_EQ(first->root, fresh->root);
  EXPECT_EQ(first->cwd, fresh->cwd);
}

TEST_F(PlanCacheTest, WhatComesInTheLetterMakesNoDifference) {
  const SharedPlan first = plan(usual());
  Request other = usual();
  other.args = {"x"};
  other.argv0 = "y";
  other.env = {{"A", "b"}};
  other.in = Input::bytes("z");
  other.timeout = std::chrono::seconds(3);
  EXPECT_EQ(plan(other), first);
}

TEST_F(PlanCacheTest, EverythingThatAPlanDependsOnMakesOne) {
  const std::vector<std::pair<std::string, std::function<void(Request&)>>> changes{
      {"cwd", [](Request& r) { r.cwd = "/srv/other"; }},
      {"grants", [](Request& r) { r.grants.push_back(Grant::read("/srv/data")); }},
      {"network", [](Request& r) { r.network = Network::loopback; }},
      {"unix sockets", [](Request& r) { r.unix_sockets = false; }},
      {"user", [](Request& r) { r.user = User{1000, 1000}; }},
      {"explain", [](Request& r) { r.explain = true; }},
      {"reuse", [](Request& r) { r.reuse = Tenant::named("a").value(); }},
      {"process limit", [](Request& r) { r.end_at_process_limit = true; }},
      {"group", [](Request& r) { r.cgroup_parent = "a/b"; }},
      {"links", [](Request& r) { r.links_resolved = true; }},
      {"limits", [](Request& r) { r.limits.memory_bytes = 1 << 30; }},
  };
  Limits limits;
  limits.processes = 8;
  const SharedPlan first = plan(usual(), limits);
  for (const auto& [name, change] : changes) {
    Request request = usual();
    change(request);
    EXPECT_NE(plan(request, limits), first) << name;
  }
  EXPECT_NE(plan(usual(), {}), first) << "limits with the defaults";
  caller_.cwd = "/srv/elsewhere";
  EXPECT_NE(plan(usual(), limits), first) << "caller";
  plan::HostCapabilities other = host_;
  EXPECT_NE(*cache_.plan(usual(), limits, caller_, other), plan(usual(), limits)) << "host";
}

TEST_F(PlanCacheTest, WhatBelongsToOneRunIsNotKept) {
  Request request = usual();
  request.secrets.push_back(Secret{.name = "TOKEN"});
  EXPECT_NE(plan(request), plan(request));
  request = usual();
  request.terminal = TerminalSize{};
  EXPECT_NE(plan(request), plan(request));
}

TEST_F(PlanCacheTest, ErrorsAreToldEachTime) {
  Request request = usual();
  request.cwd = "/";
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(cache_.plan(request, {}, caller_, host_));
}

TEST_F(PlanCacheTest, OnlyTheLastOnesAreKept) {
  const SharedPlan first = plan(usual());
  for (int i = 0; i < 100; ++i) {
    Request request = usual();
    request.cwd = "/srv/" + std::to_string(i);
    (void)plan(request);
  }
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_NE(plan(usual()), first);
}

}  // namespace
}  // namespace cordon::linux_backend
