#include "base/paths.h"

#include <gtest/gtest.h>

namespace cordon::base {
namespace {

TEST(NormaliseTest, RemovesWhatMeansNothing) {
  EXPECT_EQ(normalise("/a//b/./c/"), "/a/b/c");
  EXPECT_EQ(normalise("/"), "/");
  EXPECT_EQ(normalise("//."), "/");
  EXPECT_EQ(normalise("/..a/b.."), "/..a/b..");
}

TEST(NormaliseTest, RefusesWhatDependsOnTheFileSystem) {
  EXPECT_FALSE(normalise(""));
  EXPECT_FALSE(normalise("a/b"));
  EXPECT_FALSE(normalise("/a/../b"));
  EXPECT_FALSE(normalise("/a/.."));
}

TEST(PathsTest, BelowIsByComponentNotByPrefix) {
  EXPECT_TRUE(at_or_below("/usr", "/usr"));
  EXPECT_TRUE(at_or_below("/usr/lib", "/usr"));
  EXPECT_FALSE(at_or_below("/usrlocal", "/usr"));
  EXPECT_FALSE(strictly_below("/usr", "/usr"));
  EXPECT_TRUE(strictly_below("/usr", "/"));
  EXPECT_FALSE(strictly_below("/", "/"));
  EXPECT_FALSE(at_or_below("/", "/usr"));
}

TEST(PathsTest, ParentsComeBeforeChildren) {
  EXPECT_TRUE(mounted_before("/z", "/a/b"));
  EXPECT_FALSE(mounted_before("/a/b", "/z"));
  EXPECT_TRUE(mounted_before("/a", "/b"));
  EXPECT_FALSE(mounted_before("/a", "/a"));
}

TEST(PathsTest, SystemDirectoriesAreKnownByComponentToo) {
  EXPECT_TRUE(in_system_directory("/usr"));
  EXPECT_TRUE(in_system_directory("/lib64/ld.so"));
  EXPECT_FALSE(in_system_directory("/lib6"));
  EXPECT_FALSE(in_system_directory("/usrlocal/bin"));
  EXPECT_FALSE(in_system_directory("/"));
  EXPECT_FALSE(in_system_directory("/etc"));
}

}  // namespace
}  // namespace cordon::base
