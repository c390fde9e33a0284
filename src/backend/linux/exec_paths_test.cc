#include "backend/linux/exec_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace cordon::linux_backend {
namespace {

using plan::View;
using testing::ElementsAre;
using testing::HasSubstr;

plan::SandboxPlan plan_showing(std::vector<View> views) {
  plan::SandboxPlan plan;
  plan.root = std::move(views);
  plan.cwd = "/usr";
  return plan;
}

Request request_for(std::string program) {
  Request request;
  request.program = std::move(program);
  request.env = {{"PATH", "/nowhere:/usr/bin"}};
  return request;
}

const View kUsr{.target = "/usr", .source = "/usr"};

TEST(ExecPaths, NameIsLookedForInThePathOfTheProgram) {
  const std::vector<std::string> environment = {"A=1", "PATH=/a:relative::/b"};
  EXPECT_THAT(exec_paths("sh", environment), ElementsAre("/a/sh", "/b/sh"));
  EXPECT_THAT(exec_paths("./sh", environment), ElementsAre("./sh"));
  EXPECT_THAT(exec_paths("sh", {}), testing::Contains("/usr/bin/sh"));
}

TEST(ExecPaths, InnermostViewDecidesWhatIsSeen) {
  const std::vector<View> views = {kUsr,
                                   {.target = "/data", .source = "/srv/data"},
                                   {.kind = View::Kind::tmpfs, .target = "/data/tmp"}};
  EXPECT_EQ(host_path(views, "/usr/bin/sh"), "/usr/bin/sh");
  EXPECT_EQ(host_path(views, "/data/a"), "/srv/data/a");
  EXPECT_EQ(host_path(views, "/data"), "/srv/data");
  EXPECT_EQ(host_path(views, "/data/tmp/a"), "");
  EXPECT_EQ(host_path(views, "/database"), "");
}

TEST(ExecPaths, ProgramInsideIsFound) {
  const auto plan = plan_showing({kUsr});
  EXPECT_EQ(find_inside(request_for("env"), plan), "/usr/bin/env");
  EXPECT_EQ(find_inside(request_for("/usr/bin/env"), plan), "/usr/bin/env");
  EXPECT_EQ(find_inside(request_for("bin/env"), plan), "bin/env");  // from /usr
}

TEST(ExecPaths, WhatIsOnlyOnTheHostIsNotPermitted) {
  const auto found = find_inside(request_for("/usr/bin/env"), plan_showing({}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_permitted);
  EXPECT_EQ(found.error().os_error, 0);  // so that the verdict is `denied`
  EXPECT_THAT(found.error().message, HasSubstr("--read /usr/bin"));
}

TEST(ExecPaths, OtherReasonsAreNamed) {
  const auto plan = plan_showing({kUsr});
  EXPECT_EQ(find_inside(request_for("no-such-program"), plan).error().code, ErrorCode::not_found);
  EXPECT_EQ(find_inside(request_for("/usr/no-such"), plan).error().code, ErrorCode::not_found);
  EXPECT_THAT(find_inside(request_for("/usr/bin"), plan).error().message,
              HasSubstr("it is a directory"));
  EXPECT_THAT(find_inside(request_for("/etc"), plan).error().message,
              HasSubstr("it is a directory"));
  EXPECT_EQ(explain_not_executed(request_for("/etc/passwd"), plan, EACCES).code,
            ErrorCode::not_executable);
}

}  // namespace
}  // namespace cordon::linux_backend
