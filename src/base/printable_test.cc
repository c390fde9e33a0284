#include "base/printable.h"

#include <gtest/gtest.h>

namespace cordon::base {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("a b\"c\\d"), "a b\"c\\d");
  EXPECT_EQ(printable("grüße 日本 🙂"), "grüße 日本 🙂");
}

TEST(Printable, NoByteCommandsATerminal) {
  EXPECT_EQ(printable("\x1b[2Jx\r"), "\\x1b[2Jx\\x0d");
  EXPECT_EQ(printable("a\nb\tc\x7f"), "a\\nb\\tc\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // CSI as one character
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right to left
}

TEST(Printable, BytesThatAreNoTextAreShownAsSuch) {
  EXPECT_EQ(printable("a\xff z"), "a\\xff z");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");
}

}  // namespace
}  // namespace cordon::base
