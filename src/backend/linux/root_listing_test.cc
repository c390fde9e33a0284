#include "backend/linux/root_listing.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cordon::linux_backend {
namespace {

namespace fs = std::filesystem;
using plan::RootEntry;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = RootEntry::Kind;

class RootListingTest : public testing::Test {
 protected:
  RootListingTest() {
    char name[] = "/tmp/cordon-root-XXXXXX";
    top_ = fs::canonical(::mkdtemp(name)).string();
    request_.program = "/bin/true";
    request_.root = top_ + "/root";
    fs::create_directory(request_.root);
  }
  ~RootListingTest() override { fs::remove_all(top_); }

  void directory(const std::string& inside) { fs::create_directories(request_.root + inside); }
  void file(const std::string& inside) { std::ofstream(request_.root + inside) << "x"; }
  void link(const std::string& to, const std::string& inside) {
    fs::create_symlink(to, request_.root + inside);
  }
  [[nodiscard]] std::vector<RootEntry> listed() const {
    const auto root = list_root(request_);
    EXPECT_TRUE(root) << root.error().message;
    return root ? root->entries : std::vector<RootEntry>();
  }
  [[nodiscard]] Error refused() const {
    const auto root = list_root(request_);
    EXPECT_FALSE(root);
    return root ? Error{} : root.error();
  }

  std::string top_;
  Request request_;
};

TEST_F(RootListingTest, EachEntryOfTheTopIsShownWhole) {
  directory("/usr/bin");
  file("/.marker");
  link("usr/bin", "/bin");
  EXPECT_THAT(listed(), ElementsAre(RootEntry{Kind::file, "/.marker", ""},
                                    RootEntry{Kind::symlink, "/bin", "usr/bin"},
                                    RootEntry{Kind::directory, "/usr", ""}));
}

TEST_F(RootListingTest, PlacesOfTheSandboxesOwnAreNeverTheRoots) {
  link("/etc", "/proc");
  link("../../..", "/dev");
  file("/tmp");
  directory("/sys/kernel");
  EXPECT_THAT(listed(), ElementsAre());
}

TEST_F(RootListingTest, PipesAndSocketsAreLeftOut) {
  ASSERT_EQ(::mkfifo((request_.root + "/pipe").c_str(), 0600), 0);
  EXPECT_THAT(listed(), ElementsAre());
}

TEST_F(RootListingTest, ADirectoryWithoutThePlaceOfAGrantIsShownInParts) {
  directory("/home/bob/deep");
  link("bob", "/home/friend");
  directory("/usr");
  request_.grants = {Grant::bind(top_, "/home/ann/work", Grant::Kind::read)};
  EXPECT_THAT(listed(), ElementsAre(RootEntry{Kind::directory, "/home/bob", ""},
                                    RootEntry{Kind::symlink, "/home/friend", "bob"},
                                    RootEntry{Kind::directory, "/usr", ""}));
}

TEST_F(RootListingTest, ADirectoryWithThePlaceOfAGrantIsShownWhole) {
  directory("/home/ann/work");
  request_.grants = {Grant::bind(top_, "/home/ann/work", Grant::Kind::read)};
  EXPECT_THAT(listed(), ElementsAre(RootEntry{Kind::directory, "/home", ""}));
}

TEST_F(RootListingTest, WhatIsOfTheWrongKindIsReplacedByTheGrant) {
  directory("/etc");
  file("/etc/place");
  file("/etc/other");
  request_.grants = {Grant::tmpfs("/etc/place")};
  EXPECT_THAT(listed(), ElementsAre(RootEntry{Kind::file, "/etc/other", ""}));
}

TEST_F(RootListingTest, NothingIsMountedThroughALinkOfTheRoot) {
  link("/etc", "/srv");
  request_.grants = {Grant::bind(top_, "/srv/place", Grant::Kind::read)};
  EXPECT_THAT(refused().message, HasSubstr("symbolic link"));
}

// Whatever comes before it.
TEST_F(RootListingTest, NothingIsMountedThroughALinkOfTheRootBehindAPlaceThatIsMissing) {
  link("/etc", "/srv");
  request_.grants = {Grant::bind(top_, "/data", Grant::Kind::read),
                     Grant::bind(top_, "/srv/place", Grant::Kind::read)};
  EXPECT_THAT(refused().message, HasSubstr("symbolic link"));
}

TEST_F(RootListingTest, EachDirectoryWithoutThePlaceOfAGrantIsShownInParts) {
  directory("/home/bob");
  directory("/run/lock");
  request_.grants = {Grant::bind(top_, "/data", Grant::Kind::read),
                     Grant::bind(top_, "/home/ann", Grant::Kind::read), Grant::tmpfs("/run/mine")};
  EXPECT_THAT(listed(), ElementsAre(RootEntry{Kind::directory, "/home/bob", ""},
                                    RootEntry{Kind::directory, "/run/lock", ""}));
}

TEST_F(RootListingTest, MoreNamesThanAreReadAreNeverLeftOutSilently) {
  directory("/many");
  for (std::size_t i = 0; i <= kMostRootEntries; ++i) {
    ASSERT_EQ(::mkfifo((request_.root + "/many/" + std::to_string(i)).c_str(), 0600), 0);
  }
  directory("/many/kept");
  request_.grants = {Grant::tmpfs("/many/place")};
  EXPECT_EQ(refused().code, ErrorCode::resource_exhausted);
}

TEST_F(RootListingTest, NothingIsMountedBelowAFile) {
  file("/srv");
  request_.grants = {Grant::bind(top_, "/srv/place", Grant::Kind::read)};
  EXPECT_EQ(refused().code, ErrorCode::invalid_argument);
}

TEST_F(RootListingTest, AFileIsNoRoot) {
  file("/file");
  request_.root += "/file";
  EXPECT_THAT(refused().message, HasSubstr("not a directory"));
}

TEST_F(RootListingTest, WhatIsNotThereIsNoRoot) {
  request_.root += "/absent";
  EXPECT_EQ(refused().code, ErrorCode::not_found);
}

TEST_F(RootListingTest, ALinkThatCameLaterIsNotFollowed) {
  link(".", "/loop");
  request_.root += "/loop";
  EXPECT_EQ(refused().code, ErrorCode::invalid_argument);
}

TEST_F(RootListingTest, TheWorkingDirectoryIsOneOfTheRoot) {
  directory("/real");
  link("/real", "/alias");
  for (const char* const there : {"", "/", "/real", "/alias", "/tmp", "/alias/.."}) {
    request_.cwd = there;
    EXPECT_TRUE(list_root(request_)) << there;
  }
  request_.cwd = "/usr";  // the host has it
  EXPECT_EQ(refused().code, ErrorCode::not_found);
}

TEST_F(RootListingTest, TooManyPartsAreRefusedWithTheWayOut) {
  directory("/big");
  for (std::size_t i = 0; i <= kMostRootEntries; ++i) file("/big/" + std::to_string(i));
  EXPECT_EQ(listed().size(), 1U);
  request_.grants = {Grant::tmpfs("/big/place")};
  EXPECT_THAT(refused().message, HasSubstr("/big/place"));
}

TEST_F(RootListingTest, LinksStayInTheRootWhenAProgramIsLookedFor) {
  directory("/bin");
  file("/bin/real");
  link("/bin/real", "/bin/absolute");
  link("../../../../bin/real", "/bin/up");
  link("/etc/passwd", "/bin/out");
  EXPECT_TRUE(open_in_root(request_.root, "/bin/absolute"));
  EXPECT_TRUE(open_in_root(request_.root, "/bin/up"));
  EXPECT_FALSE(open_in_root(request_.root, "/bin/out"));
}

}  // namespace
}  // namespace cordon::linux_backend
