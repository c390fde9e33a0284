#include "workdir/names.h"

#include <gtest/gtest.h>

namespace cordon::workdir {
namespace {

TEST(WorkDirNames, AreNameAndVersion) {
  EXPECT_EQ(name_prefix("server", "1.2").value(), "server-1.2-");
}

TEST(WorkDirNames, HaveNoSlash) {
  EXPECT_EQ(name_prefix("@scope/server", "1/2").value(), "@scope_server-1_2-");
}

TEST(WorkDirNames, ThatCouldMisleadAreRefused) {
  using namespace std::string_literals;
  for (const std::string& bad : {""s, "a\nb"s, "a\0b"s, "\x1b[2J"s, "\x7f"s, ".."s, "../a"s,
                                 "a/.."s, "a/../b"s, std::string(101, 'a')}) {
    const auto name = name_prefix(bad, "1");
    ASSERT_FALSE(name) << bad;
    EXPECT_EQ(name.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(name.error().message.find_first_of("\n\x1b\x7f"), std::string::npos);
    EXPECT_FALSE(name_prefix("a", bad)) << bad;
  }
  EXPECT_TRUE(name_prefix("a..b", "...")) << "dots alone are harmless";
  EXPECT_TRUE(name_prefix(std::string(100, 'a'), std::string(100, 'a')));
}

TEST(WorkDirNames, OfOthersAreNotSwept) {
  EXPECT_TRUE(may_be_swept("server-1.2-1700000000000000000"));
  EXPECT_FALSE(may_be_swept("server-1.2-1700000000000000000.kept"));
  for (const char* const name : {"notes", "-1", "a-", "a-1x", "lost+found"}) {
    EXPECT_FALSE(may_be_swept(name)) << name;
  }
}

TEST(Cache, IsWhereCachesBelong) {
  EXPECT_EQ(cache_for(0, "/xdg", "/root").value(), "/var/cache/cordon");
  EXPECT_EQ(cache_for(1000, "/xdg", "/home/u").value(), "/xdg/cordon");
  EXPECT_EQ(cache_for(1000, "", "/home/u").value(), "/home/u/.cache/cordon");
  EXPECT_EQ(cache_for(1000, "relative", "/home/u").value(), "/home/u/.cache/cordon");
  const auto none = cache_for(1000, "", "");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("--cache"), std::string::npos);
}

}  // namespace
}  // namespace cordon::workdir
