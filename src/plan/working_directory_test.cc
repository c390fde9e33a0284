#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "plan/default_view.h"
#include "plan/grants.h"
#include "plan/testing.h"

namespace cordon::plan {
namespace {

using plan::testing::request;
using ::testing::HasSubstr;

struct Placed {
  Result<std::string> cwd;
  std::vector<View> added;  // besides the grants
};

Placed placed(const std::string& cwd, std::vector<Grant> grants = {},
              const std::string& home = "/home/ann") {
  const Request asked = request(std::move(grants));
  auto views = granted_views(asked).value();
  const auto before = static_cast<std::ptrdiff_t>(views.size());
  auto path = place_cwd(asked, {1, 1, cwd, home}, default_view({}, Network::none, {}), views);
  return {std::move(path), {views.begin() + before, views.end()}};
}

TEST(WorkingDirectoryTest, IsGrantedReadOnly) {
  const auto result = placed("/home/ann//work/");
  ASSERT_TRUE(result.cwd) << result.cwd.error().message;
  EXPECT_EQ(*result.cwd, "/home/ann/work");
  ASSERT_EQ(result.added.size(), 1U);
  EXPECT_EQ(result.added[0].source, "/home/ann/work");
  EXPECT_EQ(result.added[0].target, "/home/ann/work");
  EXPECT_FALSE(result.added[0].writable);
  EXPECT_TRUE(result.added[0].granted);
}

TEST(WorkingDirectoryTest, IsNotGrantedAgainWhereItIsShown) {
  EXPECT_TRUE(placed("/home/ann/w", {Grant::write("/home/ann/w")}).added.empty());
  EXPECT_TRUE(placed("/home/ann/w/x", {Grant::write("/home/ann/w")}).added.empty());
  EXPECT_TRUE(placed("/usr/share").added.empty());
  EXPECT_TRUE(placed("/w", {Grant::tmpfs("/w")}).added.empty());
  EXPECT_TRUE(placed("/w", {Grant::bind("/data", "/w", Grant::Kind::read)}).added.empty());
}

TEST(WorkingDirectoryTest, IsBoundInsideAPrivateDirectory) {
  for (const auto& result :
       {placed("/tmp/x"), placed("/var/tmp/x"), placed("/w/x", {Grant::tmpfs("/w")}),
        placed("/w/x/y", {Grant::read("/w"), Grant::tmpfs("/w/x")})}) {
    ASSERT_TRUE(result.cwd) << result.cwd.error().message;
    ASSERT_EQ(result.added.size(), 1U);
    EXPECT_EQ(result.added[0].target, *result.cwd);
  }
}

TEST(WorkingDirectoryTest, OfTheRequestWinsOverTheCallers) {
  Request asked = request();
  std::vector<View> views;
  const auto defaults = default_view({}, Network::none, {});
  asked.cwd = "/srv/x";
  EXPECT_EQ(place_cwd(asked, {1, 1, "/", "/home/ann"}, defaults, views), "/srv/x");
  asked.cwd = "x";
  EXPECT_EQ(place_cwd(asked, {1, 1, "/srv", "/home/ann"}, defaults, views), "/srv/x");
  asked.cwd = "../x";
  EXPECT_FALSE(place_cwd(asked, {1, 1, "/srv", "/home/ann"}, defaults, views));
}

TEST(WorkingDirectoryTest, TheHomeDirectoryHasToBeNamed) {
  for (const char* cwd : {"/home/ann", "/home/ann/", "/home", "/", "/tmp", "/var/tmp"}) {
    const auto result = placed(cwd);
    ASSERT_FALSE(result.cwd) << cwd;
    EXPECT_EQ(result.cwd.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(result.cwd.error().message, HasSubstr("--read DIR"));
    EXPECT_THAT(result.cwd.error().message, HasSubstr("--cwd DIR"));
    EXPECT_TRUE(result.added.empty());
  }
  EXPECT_THAT(placed("/home/ann").cwd.error().message, HasSubstr("your home directory"));
  EXPECT_TRUE(placed("/home/ann", {Grant::read("/home/ann")}).cwd);
  EXPECT_TRUE(placed("/home/ann", {Grant::read("/home")}).cwd);
  EXPECT_TRUE(placed("/tmp", {Grant::write("/tmp")}).cwd);
  EXPECT_TRUE(placed("/tmp", {Grant::tmpfs("/tmp")}).cwd);
}

TEST(WorkingDirectoryTest, ASystemDirectoryHasToBeNamed) {
  for (const char* cwd : {"/etc", "/etc/ssh", "/boot", "/var", "/run", "/root"}) {
    EXPECT_FALSE(placed(cwd, {}, "").cwd) << cwd;
  }
  EXPECT_TRUE(placed("/etc/ssh", {Grant::read("/etc/ssh")}).cwd);
}

TEST(WorkingDirectoryTest, CannotBeAPlaceOfTheKernel) {
  for (const char* cwd : {"/proc", "/proc/self/cwd", "/sys/fs", "/dev", "/dev/shm"}) {
    const auto result = placed(cwd);
    ASSERT_FALSE(result.cwd) << cwd;
    EXPECT_THAT(result.cwd.error().message, HasSubstr("--cwd DIR"));
  }
}

TEST(WorkingDirectoryTest, ThatIsGoneIsAnError) {
  EXPECT_FALSE(placed("").cwd);
  EXPECT_FALSE(placed("(unreachable)/x").cwd);
}

TEST(WorkingDirectoryTest, DirectoriesOfCordonsOwnAreNotShown) {
  const Caller caller{.uid = 7, .gid = 7, .cwd = "/", .home = "", .own = {"/run/user/7/cordon"}};
  const auto defaults = default_view({}, Network::none, {});
  for (const char* const cwd : {"/run/cordon", "/run/cordon/pool", "/run/user/7/cordon/pool"}) {
    Request asked = request();
    asked.cwd = cwd;
    std::vector<View> views;
    const auto refused = place_cwd(asked, caller, defaults, views);
    ASSERT_FALSE(refused) << cwd;
    EXPECT_THAT(refused.error().message, HasSubstr("Cordon's own"));
  }
  Request asked = request();
  asked.cwd = "/run/user/7";
  std::vector<View> views;
  ASSERT_TRUE(place_cwd(asked, caller, defaults, views));
  ASSERT_EQ(views.size(), 2U);
  EXPECT_EQ(views[1].kind, View::Kind::tmpfs);
  EXPECT_EQ(views[1].target, "/run/user/7/cordon");
}

}  // namespace
}  // namespace cordon::plan
