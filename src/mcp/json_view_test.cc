#include "mcp/json_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

namespace cordon::mcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string why_not(std::string_view text, const JsonLimits& limits = {}) {
  const auto checked = check_json(text, limits);
  return checked ? "" : checked.error();
}

std::vector<std::pair<std::string, std::string>> members_of(std::string_view object) {
  std::vector<std::pair<std::string, std::string>> all;
  Members members(object);
  while (const auto each = members.next()) all.emplace_back(each->name, each->value);
  return all;
}

TEST(CheckJson, TakesOneValueWithoutTheSpaceAroundIt) {
  EXPECT_EQ(check_json(" {\"a\": 1} \n", {}).value(), "{\"a\": 1}");
  EXPECT_EQ(check_json("17", {}).value(), "17");
  EXPECT_EQ(check_json("\t\"x\"", {}).value(), "\"x\"");
}

TEST(CheckJson, RefusesWhatIsNotJson) {
  for (const char* const text : {"", " ", "{", "{\"a\":}", "[1,]", "nul", "{'a':1}", "\"\xff\"",
                                 "\"\\ud800\"", "01", "{\"a\" 1}", "[1 2]"}) {
    EXPECT_NE(why_not(text), "") << text;
  }
  EXPECT_THAT(why_not("{} {}"), HasSubstr("something follows the JSON value, at byte 3"));
}

TEST(CheckJson, RefusesWhatIsTooLargeOrTooDeep) {
  EXPECT_THAT(why_not("[1,2,3]", {.max_bytes = 6}), HasSubstr("7 bytes, of at most 6"));
  EXPECT_EQ(why_not("[[[1]]]", {.max_depth = 3}), "");
  EXPECT_THAT(why_not("[[[[1]]]]", {.max_depth = 3}), HasSubstr("more than 3 levels"));
  EXPECT_NE(why_not(std::string(1'000'000, '[')), "");
}

TEST(CheckJson, RefusesANameThatAnObjectHasTwiceAtAnyDepth) {
  EXPECT_THAT(why_not(R"({"a":1,"b":2,"a":3})"), HasSubstr("\"a\" twice"));
  EXPECT_THAT(why_not(R"([{"x":{"b":1,"\u0062":2}}])"), HasSubstr("\"b\" twice"));
  EXPECT_EQ(why_not(R"({"a":{"a":{"a":"a"}},"b":["a","a",{"a":1},{"a":2}]})"), "");
  EXPECT_EQ(why_not(R"({"a" : "a", "b": "a:" })"), "");
}

TEST(CheckJson, TakesTimeInProportionToTheTextAlsoForManyNames) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"" + std::to_string(i) + "\":0,";
  text += "\"0\":1}";
  EXPECT_THAT(why_not(text), HasSubstr("\"0\" twice"));
}

TEST(Members, AreGivenInOrderWithTheirExactTexts) {
  EXPECT_THAT(members_of("{ }"), ElementsAre());
  EXPECT_THAT(members_of(R"({"a": 1 , "b\n" :{"c":[1, 2]},"d":"}\"," , "e":[ ],"f":true})"),
              ElementsAre(Pair("a", "1"), Pair("b\n", R"({"c":[1, 2]})"), Pair("d", R"("}\",")"),
                          Pair("e", "[ ]"), Pair("f", "true")));
}

TEST(Elements, AreGivenInOrderWithTheirExactTexts) {
  std::vector<std::string> all;
  Elements elements(R"([ 1,"a,]" , [2,[3]],{"x":[]} , null])");
  while (const auto each = elements.next()) all.emplace_back(*each);
  EXPECT_THAT(all, ElementsAre("1", R"("a,]")", "[2,[3]]", R"({"x":[]})", "null"));
  EXPECT_EQ(Elements("[ ]").next(), std::nullopt);
}

TEST(Unescaped, SaysWhatTheStringSays) {
  EXPECT_EQ(unescaped(R"("")"), "");
  EXPECT_EQ(unescaped(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(unescaped(R"("\u0041\u00e9\u20AC\ud83d\ude00!")"), "A\u00e9\u20ac\U0001F600!");
}

TEST(Member, IsFoundByWhatItsNameSays) {
  constexpr std::string_view kValue = R"({"na\u006de":"x","n":1})";
  EXPECT_EQ(member(kValue, "name"), "\"x\"");
  EXPECT_EQ(string_member(kValue, "name"), "x");
  EXPECT_EQ(string_member(kValue, "n"), std::nullopt);
  EXPECT_EQ(member(kValue, "other"), std::nullopt);
  EXPECT_EQ(member("[]", "name"), std::nullopt);
}

TEST(IsInteger, MeansWholeNumbersWithoutExponent) {
  for (const char* const text : {"0", "-0", "7", "-12", "123456789012345678901234567890"}) {
    EXPECT_TRUE(is_integer(text)) << text;
  }
  for (const char* const text : {"", "-", "1.0", "1e3", "\"1\"", "null"}) {
    EXPECT_FALSE(is_integer(text)) << text;
  }
}

}  // namespace
}  // namespace cordon::mcp
