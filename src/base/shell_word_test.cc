#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace cordon::base {
namespace {

TEST(ShellWordTest, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(shell_word("/etc/shadow"), "/etc/shadow");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("/a b"), "'/a b'");
  EXPECT_EQ(shell_word("/it's"), R"('/it'\''s')");
  EXPECT_EQ(shell_word("/$(rm -r x)"), "'/$(rm -r x)'");
  EXPECT_EQ(shell_word("~x"), "'~x'");
}

}  // namespace
}  // namespace cordon::base
