#include "backend/linux/real_paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace cordon::linux_backend {
namespace {

namespace fs = std::filesystem;

class RealPathsTest : public testing::Test {
 protected:
  RealPathsTest() {
    std::string name = fs::temp_directory_path() / "cordon-paths-XXXXXX";
    folder_ = fs::canonical(::mkdtemp(name.data()));
    fs::create_directories(folder_ / "real/below");
    fs::create_directory_symlink("real", folder_ / "link");
    fs::create_directory_symlink("link", folder_ / "chain");
  }
  ~RealPathsTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string in(const char* name) const { return folder_ / name; }
  [[nodiscard]] static Grant resolved(const Grant& grant) {
    return with_real_paths({.grants = {grant}}).grants.front();
  }
  [[nodiscard]] static std::string cwd_of(Request request) {
    return with_real_paths(std::move(request)).cwd;
  }

  fs::path folder_;
};

TEST_F(RealPathsTest, GrantIsOfWhatTheLinkLeadsToUnderTheNameThatWasAskedFor) {
  for (const char* const name : {"link", "chain"}) {
    const Grant grant = resolved(Grant::write(in(name)));
    EXPECT_EQ(grant.source, in("real"));
    EXPECT_EQ(grant.target, in(name));
    EXPECT_EQ(grant.kind, Grant::Kind::write);
  }
}

TEST_F(RealPathsTest, NothingIsFollowedWhereLinksHaveBeenResolvedBefore) {
  const Request request = with_real_paths(
      {.cwd = in("link"), .grants = {Grant::read(in("link"))}, .links_resolved = true});
  EXPECT_EQ(request.grants.front().source, in("link"));
  EXPECT_EQ(request.grants.front().target, in("link"));
  EXPECT_EQ(request.cwd, in("link"));
}

TEST_F(RealPathsTest, LinkOnTheWayIsFollowed) {
  EXPECT_EQ(resolved(Grant::read(in("chain/below"))).source, in("real/below"));
}

TEST_F(RealPathsTest, TargetThatWasNamedStays) {
  const Grant grant = resolved(Grant::bind(in("link"), "/data", Grant::Kind::read));
  EXPECT_EQ(grant.source, in("real"));
  EXPECT_EQ(grant.target, "/data");
}

TEST_F(RealPathsTest, WhatIsNoLinkStaysAsItIs) {
  const Grant grant = resolved(Grant::read(in("real")));
  EXPECT_EQ(grant.source, in("real"));
  EXPECT_EQ(grant.target, in("real"));
}

TEST_F(RealPathsTest, WhatIsNotThereStaysForTheErrorThatNamesIt) {
  EXPECT_EQ(resolved(Grant::read(in("absent"))).source, in("absent"));
  fs::create_symlink("absent", in("dangling"));
  EXPECT_EQ(resolved(Grant::read(in("dangling"))).source, in("dangling"));
}

TEST_F(RealPathsTest, LinksInACircleStay) {
  fs::create_symlink("second", in("first"));
  fs::create_symlink("first", in("second"));
  EXPECT_EQ(resolved(Grant::read(in("first"))).source, in("first"));
}

TEST_F(RealPathsTest, MagicLinkIsNotFollowed) {
  EXPECT_EQ(resolved(Grant::read("/proc/self/root/usr")).source, "/proc/self/root/usr");
  fs::create_symlink("/proc/self/cwd", in("magic"));
  EXPECT_EQ(resolved(Grant::read(in("magic"))).source, in("magic"));
}

TEST_F(RealPathsTest, PathThatThePlanRefusesIsLeftToIt) {
  EXPECT_EQ(resolved(Grant::read("relative")).source, "relative");
  EXPECT_EQ(resolved(Grant::read(in("link/../link"))).source, in("link/../link"));
  EXPECT_EQ(resolved(Grant::tmpfs(in("link"))).target, in("link"));
}

TEST_F(RealPathsTest, WorkingDirectoryIsTheRealOne) {
  EXPECT_EQ(cwd_of({.cwd = in("chain/below")}), in("real/below"));
  EXPECT_EQ(cwd_of({.cwd = in("absent")}), in("absent"));
  EXPECT_EQ(cwd_of({}), "");
}

TEST_F(RealPathsTest, RelativeWorkingDirectoryIsTheCallers) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(cwd_of({.cwd = "link"}), in("real"));
  fs::current_path(before);
}

TEST_F(RealPathsTest, WorkingDirectoryInAGrantIsMeantInside) {
  // The host's /…/link is another than the sandbox's.
  const Grant grant = Grant::bind(in("real"), in("link"), Grant::Kind::read);
  EXPECT_EQ(cwd_of({.cwd = in("link/below"), .grants = {grant}}), in("link/below"));
  EXPECT_EQ(cwd_of({.cwd = in("chain"), .grants = {grant}}), in("real"));
}

}  // namespace
}  // namespace cordon::linux_backend
