#include "image/layer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "image/testing.h"

namespace cordon::image {
namespace {

using testing::archive;
using testing::directory;
using testing::file;
using testing::hard_link;
using ::testing::HasSubstr;
using testing::Item;
using testing::link;
using testing::read;
namespace fs = std::filesystem;

class LayerTest : public ::testing::Test {
 protected:
  LayerTest() {
    fs::create_directory(root());
    fs::create_directory(folder_.path() / "outside");
    std::ofstream(folder_.path() / "outside" / "secret") << "secret";
  }
  [[nodiscard]] fs::path root() const { return folder_.path() / "root"; }

  Result<void> put(const std::vector<Item>& items) { return put(archive(items)); }
  Result<void> put(const std::string& bytes) {
    const base::Fd top(::open(root().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    Layer layer(top.get(), budget_);
    auto fed = layer.feed(bytes);
    if (fed) complete_ = layer.complete();
    return fed;
  }
  void expect_refused(const std::vector<Item>& items) {
    const auto done = put(items);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::invalid_argument) << done.error().message;
    EXPECT_EQ(read(folder_.path() / "outside" / "secret"), "secret");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path() / "outside"), {}), 1);
    EXPECT_FALSE(fs::exists(folder_.path() / "escaped"));
  }

  testing::Folder folder_;
  Budget budget_;
  bool complete_ = false;
};

TEST_F(LayerTest, FilesDirectoriesAndLinksAreMade) {
  ASSERT_TRUE(put({directory("./"), directory("./bin/"), file("bin/sh", "shell", 0755),
                   link("sh", "bin/sh"), hard_link("bin/bash", "bin/sh"), file("deep/er/x", "y")}));
  EXPECT_TRUE(complete_);
  EXPECT_EQ(read(root() / "bin/sh"), "shell");
  EXPECT_EQ(fs::read_symlink(root() / "sh"), "bin/sh");
  EXPECT_EQ(fs::hard_link_count(root() / "bin/bash"), 2U);
  EXPECT_EQ(read(root() / "deep/er/x"), "y");
  EXPECT_NE(fs::status(root() / "bin/sh").permissions() & fs::perms::owner_exec, fs::perms::none);
}

TEST_F(LayerTest, NamesThatLeadOutAreRefused) {
  expect_refused({file("../escaped")});
  expect_refused({file("a/../../escaped")});
  expect_refused({file("/" + (folder_.path() / "escaped").string().substr(1))});
  expect_refused({directory("..")});
}

TEST_F(LayerTest, NothingIsWrittenThroughALink) {
  const std::string outside = (folder_.path() / "outside").string();
  expect_refused({link("out", outside), file("out/new")});
  expect_refused({link("up", "../outside"), file("up/new")});
  expect_refused({link("up2", "../outside"), directory("up2/deep/er")});
  // A file in the place of a link replaces the link.
  ASSERT_TRUE(put({link("f", outside + "/secret"), file("f", "mine")}));
  EXPECT_EQ(read(folder_.path() / "outside/secret"), "secret");
  EXPECT_EQ(read(root() / "f"), "mine");
}

TEST_F(LayerTest, ALinkOfALowerLayerIsNotFollowedEither) {
  ASSERT_TRUE(put({link("out", (folder_.path() / "outside").string())}));
  expect_refused({file("out/new")});
  expect_refused({file("out/.wh.secret")});
  expect_refused({file("out/.wh..wh..opq")});
}

TEST_F(LayerTest, HardLinksLeadToFilesOfTheImageOnly) {
  const std::string outside = (folder_.path() / "outside").string();
  expect_refused({hard_link("h", "../outside/secret")});
  expect_refused({hard_link("h", outside + "/secret")});
  expect_refused({link("out", outside), hard_link("h", "out/secret")});
  expect_refused({directory("d"), hard_link("h", "d")});
  expect_refused({hard_link("h", "absent")});
  // Of a link itself: it is another link, and nobody follows it here.
  ASSERT_TRUE(put({link("l", outside + "/secret"), hard_link("h2", "l"), file("h2", "mine")}));
  EXPECT_EQ(read(folder_.path() / "outside/secret"), "secret");
}

TEST_F(LayerTest, AFileIsReplacedAndNotWrittenOver) {
  ASSERT_TRUE(put({file("a", "one"), hard_link("b", "a")}));
  ASSERT_TRUE(put({file("a", "two")}));
  EXPECT_EQ(read(root() / "a"), "two");
  EXPECT_EQ(read(root() / "b"), "one");
}

TEST_F(LayerTest, WhiteoutsHideWhatIsBelow) {
  ASSERT_TRUE(put({directory("d"), file("d/a"), file("d/b"), directory("e/f"), file("e/f/g")}));
  ASSERT_TRUE(put({file("d/.wh.a", ""), file(".wh.e", ""), file(".wh.absent", "")}));
  EXPECT_FALSE(fs::exists(root() / "d/a"));
  EXPECT_TRUE(fs::exists(root() / "d/b"));
  EXPECT_FALSE(fs::exists(root() / "e"));
}

TEST_F(LayerTest, AnOpaqueDirectoryKeepsWhatTheSameLayerPutThere) {
  ASSERT_TRUE(put({directory("d"), file("d/old"), file("d/sub/old")}));
  ASSERT_TRUE(put({file("d/before"), file("d/.wh..wh..opq", ""), file("d/after")}));
  EXPECT_FALSE(fs::exists(root() / "d/old"));
  EXPECT_FALSE(fs::exists(root() / "d/sub"));
  EXPECT_TRUE(fs::exists(root() / "d/before"));
  EXPECT_TRUE(fs::exists(root() / "d/after"));
}

TEST_F(LayerTest, WhiteoutsOfNothingAreRefused) {
  expect_refused({file(".wh.", "")});
  expect_refused({directory("d"), file("d/.wh...", "")});
  expect_refused({directory("d"), file("d/.wh..", "")});
}

TEST_F(LayerTest, DevicesAreLeftOutAndCounted) {
  ASSERT_TRUE(put({testing::of_type(TarEntry::Type::other, "pipe"), file("x")}));
  EXPECT_EQ(budget_.skipped, 1U);
  EXPECT_FALSE(fs::exists(root() / "pipe"));
}

TEST_F(LayerTest, BitsThatChangeAnIdAreLeftOut) {
  ASSERT_TRUE(put({file("su", "x", 06755)}));
  struct stat found{};
  ASSERT_EQ(::stat((root() / "su").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0755U);
}

TEST_F(LayerTest, TheBudgetEndsIt) {
  budget_.most_bytes = 4096;
  const auto large = put({file("big", std::string(8192, 'x'))});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::resource_exhausted);
  budget_ = {.most_entries = 3};
  const auto many = put({file("1"), file("2"), file("3"), file("4")});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, ErrorCode::resource_exhausted);
}

TEST_F(LayerTest, DirectoriesThatANameImpliesCountToo) {
  budget_ = {.most_entries = 20};
  std::string deep;
  for (int i = 0; i < 30; ++i) deep += "d/";
  const auto many = put({file(deep + "file")});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, ErrorCode::resource_exhausted);
  budget_ = {.most_names = 100};
  const auto named = put({file("one/two/three/" + std::string(80, 'n'))});
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::resource_exhausted);
}

TEST_F(LayerTest, WhatEndsEarlyIsNotComplete) {
  const std::string whole = archive({file("a", std::string(2000, 'x'))});
  ASSERT_TRUE(put(whole.substr(0, 1200)));
  EXPECT_FALSE(complete_);
}

TEST_F(LayerTest, ADirectoryInPlaceOfALinkIsReal) {
  ASSERT_TRUE(put({link("d", (folder_.path() / "outside").string())}));
  ASSERT_TRUE(put({directory("d"), file("d/new")}));
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(root() / "d")));
  EXPECT_FALSE(fs::exists(folder_.path() / "outside/new"));
}

}  // namespace
}  // namespace cordon::image
