#include "plan/grants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "base/paths.h"
#include "plan/default_view.h"
#include "plan/testing.h"

namespace cordon::plan {
namespace {

using plan::testing::request;
using ::testing::HasSubstr;
using Kind = View::Kind;

struct Refusal {
  const char* says;
  std::vector<Grant> grants;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.says; }

class GrantIsRefused : public ::testing::TestWithParam<Refusal> {};

TEST_P(GrantIsRefused, SayingWhy) {
  const auto views = granted_views(request(GetParam().grants));
  ASSERT_FALSE(views);
  EXPECT_EQ(views.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(views.error().stage, "plan");
  EXPECT_THAT(views.error().message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Paths, GrantIsRefused,
    ::testing::Values(Refusal{"\"a/b\" is not an absolute path", {Grant::read("a/b")}},
                      Refusal{"\"/a/../b\" is not an absolute path", {Grant::write("/a/../b")}},
                      Refusal{"without \"..\"", {Grant::bind("/a", "/b/..", Grant::Kind::read)}},
                      Refusal{"grant tmpfs on : ", {Grant::tmpfs("")}}));

INSTANTIATE_TEST_SUITE_P(
    Places, GrantIsRefused,
    ::testing::Values(
        Refusal{"the whole root is never granted", {Grant::read("/")}},
        Refusal{"the whole root is never granted", {Grant::read("//.")}},
        Refusal{"the whole root is never granted", {Grant::bind("/", "/mnt", Grant::Kind::read)}},
        Refusal{"the whole root is never granted", {Grant::bind("/mnt", "/", Grant::Kind::write)}},
        Refusal{"the whole root is never granted", {Grant::tmpfs("/")}},
        Refusal{"read of /proc: /proc is the sandbox's own", {Grant::read("/proc")}},
        Refusal{"/proc is", {Grant::bind("/proc/1/root", "/mnt", Grant::Kind::read)}},
        Refusal{"/proc is", {Grant::bind("/data", "/proc/x", Grant::Kind::read)}},
        Refusal{"/run/cordon is Cordon's own", {Grant::read("/run/cordon")}},
        Refusal{"/run/cordon is Cordon's own",
                {Grant::bind("/run/cordon/ids", "/mnt", Grant::Kind::write)}},
        Refusal{"/sys of the host is never shown", {Grant::read("/sys/fs/cgroup")}},
        Refusal{"/dev is", {Grant::write("/dev/kvm")}},
        Refusal{"/dev is", {Grant::tmpfs("/dev/shm")}}));

INSTANTIATE_TEST_SUITE_P(
    SystemDirectories, GrantIsRefused,
    ::testing::Values(Refusal{"write of /usr: system directories are never writable",
                              {Grant::write("/usr")}},
                      Refusal{"never writable", {Grant::write("/usr/local/bin")}},
                      Refusal{"never writable", {Grant::write("/usr/src")}},
                      Refusal{"never writable", {Grant::write("/lib64/")}},
                      Refusal{"never writable", {Grant::write("/etc/cron.d")}},
                      Refusal{"never writable", {Grant::bind("/usr", "/mnt", Grant::Kind::write)}},
                      Refusal{"never writable", {Grant::bind("/mnt", "/bin", Grant::Kind::write)}},
                      Refusal{"never writable", {Grant::tmpfs("/etc")}}));

INSTANTIATE_TEST_SUITE_P(
    Contradictions, GrantIsRefused,
    ::testing::Values(Refusal{"two grants for /a: read of /a and write of /a",
                              {Grant::read("/a"), Grant::write("/a/")}},
                      Refusal{"two grants for /a: read of /a and read of /b as /a",
                              {Grant::read("/a"), Grant::bind("/b", "/a", Grant::Kind::read)}},
                      Refusal{"two grants for /a: tmpfs on /a and tmpfs on /a",
                              {Grant::tmpfs("/a", 1), Grant::tmpfs("/a", 2)}}));

TEST(GrantsTest, EqualGrantsAreOne) {
  const auto views = granted_views(request(
      {Grant::read("/a"), Grant::read("/a/."), Grant::bind("/a", "/a", Grant::Kind::read)}));
  ASSERT_TRUE(views) << views.error().message;
  ASSERT_EQ(views->size(), 1U);
  EXPECT_EQ(views->front().target, "/a");
  EXPECT_EQ(views->front().source, "/a");
  EXPECT_FALSE(views->front().writable);
  EXPECT_TRUE(views->front().granted);
}

TEST(GrantsTest, ATmpfsWithoutSizeHasTheDefaultOne) {
  const auto views = granted_views(request({Grant::tmpfs("/a"), Grant::tmpfs("/b", 7)}));
  ASSERT_TRUE(views);
  EXPECT_EQ(views->at(0).size, kDefaultTmpfsSize);
  EXPECT_EQ(views->at(1).size, 7U);
  EXPECT_TRUE(views->at(0).writable);
}

TEST(GrantsTest, FilesOfTheSystemKeepTheirOwner) {  // else /etc/shadow would be the program's
  const auto views = granted_views(request({Grant::read("/etc"), Grant::read("/data")}));
  ASSERT_TRUE(views);
  EXPECT_FALSE(views->at(0).granted);
  EXPECT_TRUE(views->at(1).granted);
}

TEST(GrantsTest, SourcesBelowUsrSrcMayBeWritten) {
  EXPECT_TRUE(granted_views(request({Grant::write("/usr/src/app")})));
}

std::vector<View> merged(std::vector<Grant> grants) {
  auto views = granted_views(request(std::move(grants)));
  EXPECT_TRUE(views) << views.error().message;
  return merge_views(default_view({}, Network::none, {}), *views);
}

std::ptrdiff_t place(const std::vector<View>& views, std::string_view target) {
  EXPECT_LE(std::ranges::count(views, target, &View::target), 1) << target;
  const auto it = std::ranges::find(views, target, &View::target);
  return it == views.end() ? -1 : it - views.begin();
}

TEST(MergeViewsTest, TheInnerGrantIsMountedLater) {
  const auto views = merged({Grant::write("/a/b/c"), Grant::read("/a"), Grant::read("/a/b/c/d")});
  EXPECT_LT(place(views, "/a"), place(views, "/a/b/c"));
  EXPECT_LT(place(views, "/a/b/c"), place(views, "/a/b/c/d"));
  EXPECT_LT(place(views, "/dev"), place(views, "/dev/null"));
  EXPECT_LT(place(views, "/dev"), place(views, "/dev/pts"));
}

TEST(MergeViewsTest, NoDirectoryIsMountedOverWhatIsInIt) {
  for (const auto& views :
       {merged({}), merged({Grant::read("/etc/ssl"), Grant::read("/etc"), Grant::read("/etc/x/y")}),
        merged({Grant::read("/var/tmp/a/b"), Grant::tmpfs("/var/tmp/a"), Grant::read("/tmp/c")}),
        merged({Grant::read("/usr/local/x"), Grant::read("/usr"), Grant::tmpfs("/tmp")})}) {
    for (std::size_t i = 0; i < views.size(); ++i) {
      for (std::size_t j = i; j < views.size(); ++j) {
        EXPECT_FALSE(base::strictly_below(views[i].target, views[j].target))
            << views[j].target << " comes after " << views[i].target;
      }
    }
  }
}

TEST(MergeViewsTest, AGrantReplacesTheDefaultAtItsPlace) {
  const auto views = merged({Grant::write("/tmp"), Grant::read("/etc/passwd")});
  EXPECT_EQ(views.at(place(views, "/tmp")).kind, Kind::bind);
  EXPECT_EQ(views.at(place(views, "/etc/passwd")).kind, Kind::bind);
}

TEST(MergeViewsTest, TheHostsEtcKeepsTheSandboxsUsers) {
  const auto views = merged({Grant::read("/etc")});
  EXPECT_EQ(views.at(place(views, "/etc/passwd")).kind, Kind::file);
  EXPECT_LT(place(views, "/etc"), place(views, "/etc/passwd"));
  EXPECT_EQ(place(views, "/etc/alternatives"), -1);
  EXPECT_EQ(place(views, "/etc/hosts"), -1);
}

TEST(MergeViewsTest, AForeignEtcIsTakenAsItIs) {
  const auto views = merged({Grant::bind("/images/a/etc", "/etc", Grant::Kind::read)});
  EXPECT_EQ(place(views, "/etc/passwd"), -1);
  EXPECT_NE(place(views, "/etc"), -1);
}

TEST(MergeViewsTest, NothingIsMountedThroughTheSymlinkOfVarTmp) {
  auto views = merged({Grant::read("/var/tmp/x")});
  EXPECT_EQ(views.at(place(views, "/var/tmp")).kind, Kind::tmpfs);
  EXPECT_LT(place(views, "/var/tmp"), place(views, "/var/tmp/x"));
  views = merged({Grant::read("/var")});
  EXPECT_EQ(place(views, "/var/tmp"), -1);
  views = merged({});
  EXPECT_EQ(views.at(place(views, "/var/tmp")).kind, Kind::symlink);
}

TEST(GrantsTest, RuntimeDirectoryIsHiddenWhereAGrantWouldShowIt) {
  const auto views =
      granted_views(request({Grant::bind("/run", "/host/run", Grant::Kind::write)})).value();
  ASSERT_EQ(views.size(), 2U);
  const View& mask = views.back();
  EXPECT_EQ(mask.kind, Kind::tmpfs);
  EXPECT_EQ(mask.target, "/host/run/cordon");
  EXPECT_EQ(mask.source, "/run/cordon");
  EXPECT_FALSE(mask.writable);
  EXPECT_TRUE(mask.optional);
}

TEST(GrantsTest, TheUsersOwnDirectoryOfCordonIsNeitherGrantedNorShown) {
  const std::vector<std::string> own = {"/run/user/7/cordon"};
  for (const char* const path : {"/run/user/7/cordon", "/run/user/7/cordon/pool"}) {
    const auto refused = granted_views(request({Grant::read(path)}), own);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("/run/user/7/cordon is Cordon's own"));
  }
  const auto views =
      granted_views(request({Grant::read("/run/user/7"), Grant::write("/run")}), own).value();
  std::vector<std::string> hidden;
  for (const View& view : views) {
    if (view.kind == Kind::tmpfs) hidden.push_back(view.target);
  }
  EXPECT_THAT(hidden, ::testing::UnorderedElementsAre("/run/user/7/cordon", "/run/cordon"));
  EXPECT_EQ(granted_views(request({Grant::read("/run/user/8")}), own)->size(), 1U);
}

}  // namespace
}  // namespace cordon::plan
