#include "base/json_text.h"

#include <gtest/gtest.h>

namespace cordon::base {
namespace {

TEST(JsonText, QuotesAndEscapes) {
  EXPECT_EQ(json_text(""), "\"\"");
  EXPECT_EQ(json_text("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(json_text("grüße"), "\"grüße\"");
}

// Seals of audit records and digests of requests are made over these bytes.
TEST(JsonText, ControlCharactersHaveOneFormEach) {
  EXPECT_EQ(json_text("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(json_text(std::string_view("\0\x01\x1b\x1f", 4)), R"("\u0000\u0001\u001b\u001f")");
  EXPECT_EQ(json_text("\x7f\xc2\x9b"), "\"\x7f\xc2\x9b\"");
}

TEST(JsonText, EachByteThatIsNoTextIsReplaced) {
  EXPECT_EQ(json_text("a\xff"), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(json_text("\xc3\n\xe2\x82"), "\"\xef\xbf\xbd\\n\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(JsonText, NothingKnownIsNull) {
  EXPECT_EQ(json_text_or_null(""), "null");
  EXPECT_EQ(json_text_or_null("null"), "\"null\"");
  EXPECT_EQ(json_bool(true), "true");
  EXPECT_EQ(json_bool(false), "false");
}

TEST(JsonObject, KeepsTheOrderOfItsNames) {
  EXPECT_EQ(JsonObject().str(), "{}");
  EXPECT_EQ(JsonObject().add("b", "1").add("a", "null").str(), R"({"b":1,"a":null})");
}

}  // namespace
}  // namespace cordon::base
