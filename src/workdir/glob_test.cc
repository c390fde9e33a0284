#include "workdir/glob.h"

#include <gtest/gtest.h>

namespace cordon::workdir {
namespace {

using Path = std::vector<std::string>;

bool matches(std::string_view pattern, const Path& path) {
  return Glob::parse(pattern).value().matches(path);
}
bool leads_into(std::string_view pattern, const Path& path) {
  return Glob::parse(pattern).value().leads_into(path);
}

TEST(Glob, StarsStayWithinAName) {
  EXPECT_TRUE(matches("*.txt", {"a.txt"}));
  EXPECT_FALSE(matches("*.txt", {"d", "a.txt"}));
  EXPECT_TRUE(matches("out/*", {"out", "a"}));
  EXPECT_FALSE(matches("out/*", {"out", "d", "a"}));
  EXPECT_TRUE(matches("./out//[a-c]?", {"out", "bx"}));
  EXPECT_FALSE(matches("out", {"out", "a"}));
}

TEST(Glob, TwoStarsAreAnyDepth) {
  EXPECT_TRUE(matches("**/*.o", {"a.o"}));
  EXPECT_TRUE(matches("**/*.o", {"d", "e", "a.o"}));
  EXPECT_TRUE(matches("out/**", {"out", "d", "e", "a"}));
  EXPECT_FALSE(matches("out/**", {"out"}));
  EXPECT_TRUE(matches("a/**/b/**/c", {"a", "x", "b", "y", "b", "c"}));
  EXPECT_FALSE(matches("a/**/b", {"a", "b", "c"}));
}

TEST(Glob, DoesNotMatchHiddenNamesByAccident) {
  EXPECT_FALSE(matches("*", {".hidden"}));
  EXPECT_FALSE(matches("**/a", {".hidden", "a"}));
  EXPECT_TRUE(matches(".*", {".hidden"}));
}

TEST(Glob, TellsWhichDirectoriesMatter) {
  EXPECT_TRUE(leads_into("out/*", {"out"}));
  EXPECT_FALSE(leads_into("out/*", {"tmp"}));
  EXPECT_FALSE(leads_into("out/*", {"out", "d"}));
  EXPECT_TRUE(leads_into("**/a", {"x", "y"}));
  EXPECT_FALSE(leads_into("*.txt", {"d.txt"}));
}

TEST(Glob, ManyStarsTakeNoTime) {
  std::string pattern;
  Path path;
  for (int i = 0; i < 200; ++i) {
    pattern += "**/a/";
    path.emplace_back("a");
  }
  EXPECT_FALSE(matches(pattern + "b", path));
}

TEST(Glob, CannotLeaveTheWorkDirectory) {
  using namespace std::string_literals;
  for (const std::string& bad : {""s, "/etc/*"s, "../x"s, "a/../../x"s, "."s, "//"s, "a\0b"s}) {
    const auto glob = Glob::parse(bad);
    ASSERT_FALSE(glob) << bad;
    EXPECT_EQ(glob.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace cordon::workdir
