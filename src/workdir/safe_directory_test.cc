#include "workdir/safe_directory.h"

#include "support/must_work.h"
#include "workdir/testing.h"

namespace cordon::workdir {
namespace {

class SafeDirectory : public TreeTest {
 protected:
  // The message, or empty when it was opened.
  [[nodiscard]] static std::string complaint(const std::string& cache) {
    const auto opened = open_safe_directory(cache, "work");
    return opened ? "" : opened.error().message;
  }
};

TEST_F(SafeDirectory, IsMadePrivateWithAllAboveIt) {
  ASSERT_TRUE(open_safe_directory(path("a/b/cache"), "work"));
  for (const char* const made : {"a", "a/b", "a/b/cache", "a/b/cache/work"}) {
    EXPECT_EQ(mode_of(path(made)), 0700U) << made;
  }
  ASSERT_TRUE(open_safe_directory(path("a/b/cache"), "work")) << "and is there the second time";
}

TEST_F(SafeDirectory, IsNotWritableByOthersNorIsAnythingAboveIt) {
  for (const char* const weak : {"a", "a/cache", "a/cache/work"}) {
    for (const mode_t mode : {0770U, 0707U, 0777U}) {
      make("a/cache/work");
      ASSERT_EQ(::chmod(path(weak).c_str(), mode), 0);
      const std::string why = complaint(path("a/cache"));
      EXPECT_NE(why.find(path(weak)), std::string::npos) << why;
      EXPECT_NE(why.find("may write"), std::string::npos) << why;
      ASSERT_EQ(::chmod(path(weak).c_str(), 0700), 0);
    }
  }
  EXPECT_EQ(complaint(path("a/cache")), "");
}

TEST_F(SafeDirectory, MayBeBelowAStickyDirectoryButNotBeOne) {
  make("a/cache/work");
  ASSERT_EQ(::chmod(path("a").c_str(), 01777), 0);
  EXPECT_EQ(complaint(path("a/cache")), "");
  for (const char* const own : {"a/cache", "a/cache/work"}) {
    ASSERT_EQ(::chmod(path(own).c_str(), 01777), 0);
    EXPECT_NE(complaint(path("a/cache")), "") << own;
    ASSERT_EQ(::chmod(path(own).c_str(), 0700), 0);
  }
}

TEST_F(SafeDirectory, IsNobodyElses) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "only root can give a directory away");
  for (const char* const foreign : {"a", "a/cache", "a/cache/work"}) {
    make("a/cache/work");
    ASSERT_EQ(::chown(path(foreign).c_str(), 1234, 1234), 0);
    const std::string why = complaint(path("a/cache"));
    EXPECT_NE(why.find("user 1234"), std::string::npos) << why;
    ASSERT_EQ(::chown(path(foreign).c_str(), 0, 0), 0);
  }
}

TEST_F(SafeDirectory, IsReachedThroughNoLink) {
  make("real/cache/work");
  ASSERT_EQ(::symlink(path("real").c_str(), path("link").c_str()), 0);
  EXPECT_NE(complaint(path("link/cache")).find("symbolic link"), std::string::npos);
  make("b");
  ASSERT_EQ(::symlink(path("real/cache").c_str(), path("b/cache").c_str()), 0);
  EXPECT_NE(complaint(path("b/cache")).find("symbolic link"), std::string::npos);
  make("c/cache");
  ASSERT_EQ(::symlink(path("real/cache/work").c_str(), path("c/cache/work").c_str()), 0);
  EXPECT_NE(complaint(path("c/cache")).find("symbolic link"), std::string::npos);
}

TEST_F(SafeDirectory, IsADirectory) {
  write_file(path("file"));
  EXPECT_NE(complaint(path("file")).find("not a directory"), std::string::npos);
  make("cache");
  write_file(path("cache/work"));
  EXPECT_NE(complaint(path("cache")).find("not a directory"), std::string::npos);
}

TEST_F(SafeDirectory, IsNamedPlainly) {
  using namespace std::string_literals;
  for (const std::string& bad : {""s, "relative"s, path() + "/../x", "/"s, "/a\0b"s}) {
    EXPECT_NE(complaint(bad), "") << bad;
  }
  EXPECT_EQ(complaint(path() + "//./cache/"), "");
}

}  // namespace
}  // namespace cordon::workdir
