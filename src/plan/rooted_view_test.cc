// Plans of requests with a root of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/testing.h"

namespace cordon::plan {
namespace {

using namespace plan::testing;
using ::testing::HasSubstr;
using Kind = View::Kind;

RootDirectory debian() {
  return {.source = "/srv/root",
          .entries = {{RootEntry::Kind::symlink, "/bin", "usr/bin"},
                      {RootEntry::Kind::directory, "/etc", ""},
                      {RootEntry::Kind::file, "/note", ""},
                      {RootEntry::Kind::directory, "/usr", ""}}};
}

Request rooted(std::vector<Grant> grants = {}) {
  Request r = request(std::move(grants));
  r.root = "/srv/root";
  return r;
}

const View* find(const SandboxPlan& plan, std::string_view target) {
  const auto at = std::ranges::find(plan.root, target, &View::target);
  return at == plan.root.end() ? nullptr : &*at;
}

SandboxPlan planned(const Request& request, const RootDirectory& root, Caller caller = user()) {
  auto plan = make_sandbox_plan(request, {}, caller, user_host(), &root);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *std::move(plan) : SandboxPlan();
}

TEST(RootedView, ShowsTheRootInPlaceOfTheHostsSystem) {
  const SandboxPlan plan = planned(rooted(), debian());
  ASSERT_NE(find(plan, "/usr"), nullptr);
  EXPECT_EQ(find(plan, "/usr")->source, "/srv/root/usr");
  EXPECT_FALSE(find(plan, "/usr")->writable);
  EXPECT_EQ(find(plan, "/bin")->content, "usr/bin");
  EXPECT_EQ(find(plan, "/bin")->kind, Kind::symlink);
  EXPECT_EQ(find(plan, "/lib"), nullptr);
  EXPECT_EQ(find(plan, "/etc/passwd"), nullptr) << "its own";
  for (const View& view : plan.root) {
    if (view.kind != Kind::bind) continue;
    EXPECT_TRUE(view.source.starts_with("/srv/root/")) << view.source;
  }
}

TEST(RootedView, PlacesOfTheSandboxAreThere) {
  const SandboxPlan plan = planned(rooted(), debian());
  EXPECT_EQ(find(plan, "/proc")->kind, Kind::proc);
  EXPECT_EQ(find(plan, "/dev")->kind, Kind::tmpfs);
  EXPECT_TRUE(find(plan, "/tmp")->writable);
  EXPECT_EQ(plan.cwd, "/");
  EXPECT_EQ(plan.rootfs, "/srv/root");
}

TEST(RootedView, WhatTheRootHasAtPlacesOfTheSandboxIsNotShown) {
  RootDirectory root{.source = "/srv/root"};
  for (const char* place : {"/proc", "/sys", "/dev", "/tmp"}) {
    root.entries.push_back({RootEntry::Kind::symlink, place, "/etc"});
  }
  const SandboxPlan plan = planned(rooted(), root);
  for (const View& view : plan.root) EXPECT_NE(view.content, "/etc") << view.target;
  EXPECT_EQ(find(plan, "/sys"), nullptr);
}

TEST(RootedView, NothingIsMadeWhereTheRootHasSomething) {
  RootDirectory root{.source = "/srv/root",
                     .entries = {{RootEntry::Kind::symlink, "/var", "/etc"},
                                 {RootEntry::Kind::symlink, "/etc", "/usr"}}};
  const SandboxPlan plan = planned(rooted(), root);
  EXPECT_EQ(find(plan, "/var/tmp"), nullptr);
  EXPECT_EQ(find(plan, "/etc/passwd"), nullptr);
  EXPECT_EQ(find(plan, "/etc/hosts"), nullptr);
  root.entries.clear();
  EXPECT_NE(find(planned(rooted(), root), "/etc/passwd"), nullptr);
}

TEST(RootedView, TheHostsNetworkBringsItsNamesOnlyWhereTheRootHasSuchFiles) {
  Request request = rooted();
  request.network = Network::host;
  RootDirectory root = debian();
  EXPECT_EQ(find(planned(request, root), "/etc/resolv.conf"), nullptr);
  root.network_files = {"/etc/resolv.conf"};
  EXPECT_NE(find(planned(request, root), "/etc/resolv.conf"), nullptr);
  EXPECT_EQ(find(planned(request, root), "/etc/hosts"), nullptr);
}

TEST(RootedView, OwnDirectoriesAreHiddenInIt) {
  Caller caller = user();
  caller.own = {"/srv/root/usr/state/cordon"};
  caller.images = "/srv/root/etc/images";
  const SandboxPlan plan = planned(rooted(), debian(), caller);
  EXPECT_EQ(find(plan, "/usr/state/cordon")->kind, Kind::tmpfs);
  EXPECT_EQ(find(plan, "/etc/images")->kind, Kind::tmpfs);
}

TEST(RootedView, AnUnpackedImageMayBeARootAndNothingElse) {
  Caller caller = user();
  caller.images = "/srv";
  EXPECT_NE(find(planned(rooted(), debian(), caller), "/usr"), nullptr);
  const auto granted =
      make_sandbox_plan(request({Grant::write("/srv/root")}), {}, caller, user_host());
  ASSERT_FALSE(granted);
  EXPECT_THAT(granted.error().message, HasSubstr("Cordon's own"));
}

TEST(RootedView, WhatIsNeverShownIsNoRoot) {
  Caller caller = user();
  caller.own = {"/run/user/1001/cordon"};
  for (const char* const source :
       {"/", "/proc", "/proc/1/root", "/sys", "/dev/shm", "/run/cordon", "/run/cordon/x",
        "/run/user/1001/cordon", "relative", "/a/../b"}) {
    const RootDirectory root{.source = source};
    const auto plan = make_sandbox_plan(rooted(), {}, caller, user_host(), &root);
    ASSERT_FALSE(plan) << source;
    EXPECT_EQ(plan.error().code, ErrorCode::invalid_argument);
  }
}

TEST(RootedView, TheWorkingDirectoryIsAPlaceInside) {
  Request request = rooted();
  request.cwd = "/usr/lib";
  const SandboxPlan plan = planned(request, debian());
  EXPECT_EQ(plan.cwd, "/usr/lib");
  EXPECT_EQ(find(plan, "/usr/lib"), nullptr) << "nothing of the host is shown for it";
  request.cwd = "lib";
  const RootDirectory root = debian();
  EXPECT_FALSE(make_sandbox_plan(request, {}, user(), user_host(), &root));
}

TEST(RootedView, GrantsLieOnIt) {
  const SandboxPlan plan =
      planned(rooted({Grant::read("/usr"), Grant::tmpfs("/var/tmp/x")}), debian());
  EXPECT_EQ(find(plan, "/usr")->source, "/usr");
  EXPECT_EQ(find(plan, "/var/tmp/x")->kind, Kind::tmpfs);
}

}  // namespace
}  // namespace cordon::plan
