#include "backend/linux/seen_on_host.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace cordon::linux_backend {
namespace {

namespace fs = std::filesystem;
using plan::View;

class SeenOnHostTest : public testing::TestWithParam<bool> {
 protected:
  SeenOnHostTest() {
    char name[] = "/tmp/cordon-seen-XXXXXX";
    folder_ = ::mkdtemp(name);
    fs::create_directories(folder_ / "inner/real");
    std::ofstream(folder_ / "inner/file") << "x";
    std::ofstream(folder_ / "inner/other") << "y";
    fs::create_symlink("file", folder_ / "inner/link");
  }
  ~SeenOnHostTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  [[nodiscard]] View bind(const char* name) const { return {.target = name, .source = path(name)}; }
  [[nodiscard]] View optional(const char* name) const {
    View view = bind(name);
    view.optional = true;
    return view;
  }

  // What is seen of these before and after something was done. Directories that have settled are
  // compared by their times, those that were changed just now by their entries: both must tell.
  bool true_after(const std::vector<View>& views, const std::function<void()>& done) {
    if (GetParam()) std::this_thread::sleep_for(std::chrono::milliseconds(60));
    const auto opened = open_views(views);
    EXPECT_TRUE(opened) << opened.error().message;
    const SeenOnHost seen(views, *opened);
    EXPECT_TRUE(seen.still_true());
    done();
    return seen.still_true();
  }

  fs::path folder_;
};

TEST_P(SeenOnHostTest, NothingHappens) {
  EXPECT_TRUE(
      true_after({bind("inner/file"), bind("inner/real"), optional("inner/absent")}, [] {}));
}

TEST_P(SeenOnHostTest, WhatIsBesideAndInsideDoesNotMatter) {
  EXPECT_TRUE(true_after({bind("inner/file"), bind("inner/real"), optional("inner/absent")}, [&] {
    std::ofstream(folder_ / "inner/beside") << "new";
    std::ofstream(folder_ / "inner/real/new") << "new";
    std::ofstream(folder_ / "inner/file") << "changed in place";
    fs::remove(folder_ / "inner/other");
  }));
}

TEST_P(SeenOnHostTest, FileIsReplaced) {
  EXPECT_FALSE(true_after({bind("inner/file")},
                          [&] { fs::rename(folder_ / "inner/other", folder_ / "inner/file"); }));
}

TEST_P(SeenOnHostTest, FolderIsReplaced) {
  EXPECT_FALSE(true_after({bind("inner/real")}, [&] {
    fs::rename(folder_ / "inner/real", folder_ / "inner/before");
    fs::create_directory(folder_ / "inner/real");
  }));
}

TEST_P(SeenOnHostTest, FolderAboveIsReplaced) {
  EXPECT_FALSE(true_after({bind("inner/real")}, [&] {
    fs::rename(folder_ / "inner", folder_ / "before");
    fs::create_directories(folder_ / "inner/real");
  }));
}

TEST_P(SeenOnHostTest, FileIsRemoved) {
  EXPECT_FALSE(true_after({bind("inner/file")}, [&] { fs::remove(folder_ / "inner/file"); }));
}

TEST_P(SeenOnHostTest, WhatWasAbsentAppears) {
  EXPECT_FALSE(true_after({bind("inner/file"), optional("inner/absent")},
                          [&] { std::ofstream(folder_ / "inner/absent") << "here"; }));
}

TEST_P(SeenOnHostTest, WhatWasAbsentAppearsWithItsFolders) {
  EXPECT_FALSE(true_after({optional("far/away/absent")}, [&] {
    fs::create_directories(folder_ / "far/away");
    std::ofstream(folder_ / "far/away/absent") << "here";
  }));
}

TEST_P(SeenOnHostTest, LinkThatIsFollowedLeadsElsewhere) {
  View view = optional("way");
  view.follow = true;
  fs::create_symlink("inner/link", folder_ / "way");
  EXPECT_FALSE(true_after({view}, [&] {
    fs::remove(folder_ / "inner/link");
    fs::create_symlink("other", folder_ / "inner/link");
  }));
}

TEST_P(SeenOnHostTest, LinkThatIsShownAsOneIsReplaced) {
  EXPECT_FALSE(true_after({optional("inner/link")}, [&] {
    fs::remove(folder_ / "inner/link");
    fs::create_symlink("other", folder_ / "inner/link");
  }));
}

// Between the opening of a view and the first look at its directory.
TEST_P(SeenOnHostTest, WhatWasReplacedBeforeItWasLookedAtIsNoticed) {
  const std::vector<View> views{bind("inner/file")};
  const auto opened = open_views(views);
  ASSERT_TRUE(opened);
  fs::rename(folder_ / "inner/other", folder_ / "inner/file");
  if (GetParam()) std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_FALSE(SeenOnHost(views, *opened).still_true());
}

INSTANTIATE_TEST_SUITE_P(, SeenOnHostTest, testing::Bool(), [](const auto& settled) {
  return settled.param ? "Settled" : "JustChanged";
});

}  // namespace
}  // namespace cordon::linux_backend
