#include "backend/linux/explain_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cordon::linux_backend {
namespace {

namespace fs = std::filesystem;

class ExplainHostTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "cordon-host-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = fs::canonical(name);
    fs::create_directories(folder_ / "a/b");
    std::ofstream(folder_ / "a/b/file") << "x";
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  fs::path folder_;
  HostFiles files_{{}};
};

TEST_F(ExplainHostTest, FindsWhatIsThere) {
  EXPECT_TRUE(files_.find(path("a/b/file")).exists);
  EXPECT_TRUE(files_.find("/").exists);
  EXPECT_FALSE(files_.find(path("a/b/other")).exists);
  EXPECT_FALSE(files_.find(path("a/b/file/below")).exists);
  EXPECT_EQ(files_.find(path("a/./b/../b/file")).path, path("a/b/file"));
}

TEST_F(ExplainHostTest, ResolvesLinksAsText) {
  fs::create_directory_symlink("a/b", folder_ / "relative");
  fs::create_directory_symlink(folder_ / "a", folder_ / "absolute");
  fs::create_symlink("loop", folder_ / "loop");
  fs::create_symlink("nowhere", folder_ / "dangling");
  EXPECT_EQ(files_.find(path("relative/file")).path, path("a/b/file"));
  EXPECT_EQ(files_.find(path("absolute/b/file")).path, path("a/b/file"));
  EXPECT_EQ(files_.find(path("relative/../b/file")).path, path("a/b/file"));
  EXPECT_FALSE(files_.find(path("loop")).exists);
  EXPECT_FALSE(files_.find(path("dangling")).exists);
}

TEST_F(ExplainHostTest, DoesNotEnterWhatIsAvoidedNeitherThroughLinks) {
  fs::create_directory_symlink(folder_ / "a/b", folder_ / "link");
  const HostFiles careful({path("a/b")});
  EXPECT_FALSE(careful.find(path("a/b/file")).exists);
  EXPECT_FALSE(careful.find(path("link/file")).exists);
  EXPECT_TRUE(careful.find(path("a")).exists);
  EXPECT_FALSE(files_.find("/proc/self/root/etc").exists);
}

TEST_F(ExplainHostTest, NeverOpensAFifo) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_TRUE(files_.find(path("fifo")).exists);  // and comes back
}

TEST_F(ExplainHostTest, KnowsWhetherEverybodyMayRead) {
  ::chmod(path("a/b/file").c_str(), 0644);
  EXPECT_TRUE(files_.find(path("a/b/file")).world_readable);
  ::chmod(path("a/b/file").c_str(), 0640);
  EXPECT_FALSE(files_.find(path("a/b/file")).world_readable);
}

TEST(ExplainPlacesTest, NetworksAndAutomountsAreAvoided) {
  EXPECT_THAT(places_to_avoid("20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
                              "21 20 0:5 / /net\\040work rw shared:1 - nfs4 server:/x rw\n"
                              "22 20 0:6 / /auto rw - autofs systemd-1 rw\n"
                              "23 20 0:7 / /remote rw - fuse.sshfs host: rw\n"
                              "24 20 0:8 / /win rw - fuseblk /dev/sdb1 rw\n"
                              "25 20 0:9 / /tmp rw - tmpfs tmpfs rw\n"
                              "broken"),
              testing::ElementsAre("/net work", "/auto", "/remote"));
  EXPECT_THAT(places_to_avoid("20 1 0:3 / / rw - nfs server:/ rw\n"), testing::IsEmpty());
}

}  // namespace
}  // namespace cordon::linux_backend
