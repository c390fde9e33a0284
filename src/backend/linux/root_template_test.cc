#include "backend/linux/root_template.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "backend/linux/keeper.h"
#include "support/eventually.h"
#include "support/must_work.h"

namespace cordon::linux_backend {
namespace {

namespace fs = std::filesystem;
using plan::View;

class RootTemplateTest : public testing::Test {
 protected:
  RootTemplateTest() : keeper_(*Keeper::start()), link_(*keeper_), roots_(link_) {
    char name[] = "/tmp/cordon-root-XXXXXX";
    folder_ = ::mkdtemp(name);
    std::ofstream(folder_ / "file") << "old";
    views_ = {{.target = "/shown", .source = (folder_ / "file").string(), .optional = true},
              {.target = "/later", .source = (folder_ / "later").string(), .optional = true},
              {.kind = View::Kind::file, .target = "/etc/passwd", .content = "x"},
              {.kind = View::Kind::tmpfs, .target = "/tmp", .writable = true, .size = 4096}};
  }
  ~RootTemplateTest() override { fs::remove_all(folder_); }

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "root: only a privileged caller shares roots";
    (void)open();
    if (!open().root) CORDON_SKIP_WITHOUT("shared-roots", "mounts cannot be assembled detached");
  }
  RootViews open() {
    auto opened = roots_.open(views_);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : RootViews{};
  }

  std::unique_ptr<Keeper> keeper_;
  SpawnerLink link_;
  RootTemplates roots_;
  fs::path folder_;
  std::vector<View> views_;
};

TEST_F(RootTemplateTest, IsSharedFromTheSecondRunOn) {
  const auto first = open();
  const auto second = open();
  EXPECT_EQ(first.root, second.root);
  EXPECT_TRUE(first.views[0].prepared);
  EXPECT_FALSE(first.views.back().prepared);  // a run's own tmpfs
}

// What hides a part of a grant would be below the grant, and hide nothing.
TEST_F(RootTemplateTest, HasNothingThatLiesInARunsOwnPlace) {
  fs::create_directories(folder_ / "granted/hidden");
  views_ = {{.target = "/granted", .source = (folder_ / "granted").string(), .granted = true},
            {.kind = View::Kind::tmpfs, .target = "/granted/hidden", .size = 4096},
            {.target = "/granted-not", .source = (folder_ / "file").string()}};
  (void)open();
  const auto shared = open();
  ASSERT_TRUE(shared.root);
  EXPECT_FALSE(shared.views[0].prepared);
  EXPECT_FALSE(shared.views[1].prepared);
  EXPECT_TRUE(shared.views[2].prepared);
  // Each in its own place, though one before it is left out.
  const base::Fd file(::openat(shared.root->get(), "granted-not", O_RDONLY | O_CLOEXEC));
  char text[8] = {};
  EXPECT_EQ(::read(file.get(), text, sizeof text), 3);
  EXPECT_STREQ(text, "old");
}

TEST_F(RootTemplateTest, OtherViewsHaveAnotherRoot) {
  const auto before = open().root;
  views_[2].content = "y";
  EXPECT_FALSE(open().root);
  EXPECT_NE(open().root, before);
}

TEST_F(RootTemplateTest, ShowsAFileThatWasReplacedOnTheHost) {
  const auto before = open().root;
  std::ofstream(folder_ / "new") << "new";
  fs::rename(folder_ / "new", folder_ / "file");
  const auto after = open();
  EXPECT_NE(after.root, before);
  ASSERT_TRUE(after.root);
  const base::Fd file(::openat(after.root->get(), "shown", O_RDONLY | O_CLOEXEC));
  char text[8] = {};
  EXPECT_EQ(::read(file.get(), text, sizeof text), 3);
  EXPECT_STREQ(text, "new");
}

// That does not change the directory, which is all that is looked at once it has settled.
TEST_F(RootTemplateTest, ShowsAFileThatWasMountedOver) {
  std::ofstream(folder_ / "other") << "new";
  ASSERT_TRUE(support::eventually([&] {
    struct stat seen{};
    timespec now{};
    ::stat(folder_.c_str(), &seen);
    ::clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > seen.st_ctim.tv_sec + 1;
  }));
  views_[2].content = "another root, made after that";
  (void)open();
  const auto before = open().root;
  ASSERT_TRUE(before);
  ASSERT_EQ(open().root, before);
  const std::string shown = (folder_ / "file").string();
  ASSERT_EQ(::mount((folder_ / "other").c_str(), shown.c_str(), nullptr, MS_BIND, nullptr), 0);
  const auto after = open();
  EXPECT_EQ(::umount2(shown.c_str(), MNT_DETACH), 0);
  EXPECT_NE(after.root, before);
  ASSERT_TRUE(after.root);
  const base::Fd file(::openat(after.root->get(), "shown", O_RDONLY | O_CLOEXEC));
  char text[8] = {};
  EXPECT_EQ(::read(file.get(), text, sizeof text), 3);
  EXPECT_STREQ(text, "new");
}

TEST_F(RootTemplateTest, ShowsAFileThatCameToBe) {
  const auto before = open().root;
  std::ofstream(folder_ / "later") << "x";
  EXPECT_NE(open().root, before);
}

TEST_F(RootTemplateTest, CannotBeWrittenTo) {
  const auto shared = open();
  for (const char* path : {"new", "etc/new", "etc/passwd", "shown"}) {
    errno = 0;
    EXPECT_LT(::openat(shared.root->get(), path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 0) << path;
    EXPECT_EQ(errno, EROFS) << path;
  }
}

}  // namespace
}  // namespace cordon::linux_backend
