#include "backend/linux/views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cordon::linux_backend {
namespace {

namespace fs = std::filesystem;
using plan::View;
using testing::HasSubstr;
using testing::SizeIs;

class ViewsTest : public testing::Test {
 protected:
  ViewsTest() {
    char name[] = "/tmp/cordon-views-XXXXXX";
    folder_ = ::mkdtemp(name);
    fs::create_directory(folder_ / "real");
    std::ofstream(folder_ / "file") << "x";
    fs::create_symlink("real", folder_ / "link");
  }
  ~ViewsTest() override { fs::remove_all(folder_); }
  [[nodiscard]] View bind(const char* name) const {
    return {.target = "/x", .source = (folder_ / name).string()};
  }

  fs::path folder_;
};

TEST_F(ViewsTest, TellsFoldersFromFiles) {
  auto open = open_views({bind("real"), bind("file")});
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_TRUE((*open)[0].directory);
  EXPECT_FALSE((*open)[1].directory);
  EXPECT_NE((*open)[0].inode, 0U);
}

TEST_F(ViewsTest, MissingGrantIsAnErrorThatNamesIt) {
  const auto open = open_views({bind("absent")});
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().os_error, ENOENT);
  EXPECT_THAT(open.error().message, HasSubstr((folder_ / "absent").string()));
}

TEST_F(ViewsTest, MissingOptionalIsLeftOut) {
  View view = bind("absent");
  view.optional = true;
  auto open = open_views({view});
  ASSERT_TRUE(open);
  EXPECT_THAT(*open, SizeIs(0));
}

TEST_F(ViewsTest, OptionalLinkStaysALink) {
  View view = bind("link");
  view.optional = true;
  auto open = open_views({view});
  ASSERT_TRUE(open);
  EXPECT_EQ((*open)[0].view.kind, View::Kind::symlink);
  EXPECT_EQ((*open)[0].view.content, "real");
}

TEST_F(ViewsTest, ALinkThatCameAfterTheGrantWasResolvedIsRefused) {
  const auto open = open_views({bind("link")});
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().os_error, ELOOP);
}

TEST_F(ViewsTest, MagicLinksAreRefused) {
  const auto open = open_views({{.target = "/x", .source = "/proc/self/root/usr"}});
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().os_error, ELOOP);
}

TEST_F(ViewsTest, DeviceMustBeOne) {
  View view = bind("file");
  view.kind = View::Kind::device;
  EXPECT_FALSE(open_views({view}));
}

}  // namespace
}  // namespace cordon::linux_backend
