#include "backend/linux/exec_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace cordon::linux_backend {
namespace {

using plan::View;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<OpenView> views(std::vector<View> all) {
  std::vector<OpenView> open;
  for (View& view : all) open.push_back({.view = std::move(view), .source = {}});
  return open;
}

TEST(ExecPaths, ANameIsLookedForInEachAbsoluteFolderOfThePath) {
  const std::vector<std::string> environment = {"A=b", "PATH=/usr/bin:relative::/bin"};
  EXPECT_THAT(exec_paths("ls", environment), ElementsAre("/usr/bin/ls", "/bin/ls"));
}

TEST(ExecPaths, APathIsTakenAsItIs) {
  EXPECT_THAT(exec_paths("./run", std::vector<std::string>{"PATH=/bin"}), ElementsAre("./run"));
}

TEST(ExecPaths, WithoutAPathANameIsLookedForWhereProgramsUsuallyAre) {
  EXPECT_THAT(exec_paths("ls", std::vector<std::string>{}),
              ElementsAre("/usr/local/bin/ls", "/usr/bin/ls", "/bin/ls"));
  EXPECT_THAT(exec_paths("ls", std::vector<std::string>{"PATH="}), ElementsAre());
}

TEST(HostPath, FollowsTheInnermostGrant) {
  const auto all = views({{.target = "/work", .source = "/srv/job"},
                          {.target = "/work/in", .source = "/data"},
                          {.kind = View::Kind::tmpfs, .target = "/tmp"}});
  EXPECT_EQ(host_path(all, "/work/a"), "/srv/job/a");
  EXPECT_EQ(host_path(all, "/work/in/b"), "/data/b");
  EXPECT_EQ(host_path(all, "/workshop"), "");
  EXPECT_EQ(host_path(all, "/tmp/x"), "");
}

TEST(NotExecuted, SaysHowToGrantWhatOnlyTheHostHas) {
  Request request;
  request.program = "/usr/bin/env";
  const Error error = explain_not_executed(request, "/", views({}), ENOENT);
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_EQ(error.stage, "exec");
  EXPECT_THAT(error.message, HasSubstr("--read /usr/bin"));
}

}  // namespace
}  // namespace cordon::linux_backend
