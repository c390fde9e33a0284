// Which calls a tool policy allows.
#include "mcp/tools/tool_policy.h"

#include <gmock/gmock.h>

#include "policy/testing.h"

namespace cordon::mcp {
namespace {

using testing::HasSubstr;

ToolPolicy tool_policy(const std::string& toml) {
  return ToolPolicy(policy::tools_of(policy::policy_of({{"site.toml", toml}})));
}

// A policy with one condition for the tool "t".
ToolPolicy with(const std::string& condition) {
  return tool_policy("[[mcp.tool]]\nname = \"t\"\n[mcp.tool.arguments]\n" + condition + "\n");
}

void expect(const std::string& condition, const std::vector<std::string>& right,
            const std::vector<std::string>& wrong) {
  const ToolPolicy policy = with(condition);
  for (const std::string& arguments : right) {
    EXPECT_EQ(policy.refuse("t", arguments).value_or(""), "") << condition << " " << arguments;
  }
  for (const std::string& arguments : wrong) {
    EXPECT_TRUE(policy.refuse("t", arguments)) << condition << " " << arguments;
  }
}

TEST(ToolPolicy, WithoutRulesEverythingMayBeCalled) {
  const ToolPolicy all;
  EXPECT_FALSE(all.restricts());
  EXPECT_FALSE(all.refuse("anything", "[1]"));
}

TEST(ToolPolicy, EveryFileAndTheOptionsHaveToAllowACall) {
  auto rules = policy::tools_of(policy::policy_of(
      {{"a", "[mcp]\nallow_tools = [\"r*\"]\n"}, {"b", "[mcp]\ndeny_tools = [\"rm\"]\n"}}));
  rules.push_back(*tool_options({"rm", "ro", "w"}, {"rx"}));
  const ToolPolicy policy(std::move(rules));
  EXPECT_FALSE(policy.refuse("ro"));
  EXPECT_EQ(policy.refuse("w"), "the tool w is not among those that a:2 allows");
  EXPECT_EQ(policy.refuse("rm"), "the tool rm is denied by b:2");
  EXPECT_EQ(policy.refuse("rx"), "the tool rx is denied by --deny-tool");
  EXPECT_EQ(policy.refuse("ra"), "the tool ra is not among those that --allow-tool allows");
}

TEST(ToolPolicy, APathHasToBeBelowADirectory) {
  expect("path = {beneath = \"/srv/data\"}",
         {R"({"path":"/srv/data"})", R"({"path":"/srv/data/a/b"})", R"({"path":"/srv//data/./x"})",
          R"({"path":"\u002fsrv/data/x"})"},
         {R"({})", R"({"path":"/srv/database"})", R"({"path":"/srv/data/../x"})",
          R"({"path":"data/x"})", R"({"path":""})", R"({"path":null})", R"({"path":["/srv/data"]})",
          R"({"path":"/srv/data/\u0000/../../x"})", R"({"path":"/srv/data/x\u0000"})",
          R"({"path":"/srv/data/\u002e\u002e/x"})", R"({"path":"~/x"})",
          R"({"path":"file:///srv/data/x"})"});
  expect("path = {beneath = [\"/a\", \"/b\"], optional = true}",
         {"", "{}", R"({"path":null})", R"({"path":"/b/x"})"}, {R"({"path":"/c"})"});
}

TEST(ToolPolicy, AnArgumentThatSomeTakeForTheSameIsNoWayAround) {
  expect("path = {beneath = \"/srv\"}", {R"({"path":"/srv/x","other":"/etc"})"},
         {R"({"path":"/srv/x","Path":"/etc/shadow"})", R"({"PATH":"/etc/shadow"})"});
  expect("ask = {absent = true}", {"{}", R"({"asks":1})"},
         {R"({"ask":1})", R"({"ASK":1})", "{\"a\u017fk\":1}", R"({"\u0061sk":null})"});
}

TEST(ToolPolicy, EachElementIsLookedAt) {
  expect(
      "\"paths.*\" = {beneath = \"/srv\"}", {R"({"paths":["/srv/a","/srv/b"]})", R"({"paths":[]})"},
      {R"({"paths":["/srv/a","/etc"]})", R"({"paths":"/etc"})", R"({"paths":[["/srv"]]})", "{}"});
  expect("\"edits.*.mode\" = {equals = \"r\"}", {R"({"edits":[{"mode":"r"},{"mode":"\u0072"}]})"},
         {R"({"edits":[{"mode":"r"},{}]})", R"({"edits":[{"mode":"w"}]})", R"({"edits":[1]})"});
  expect("\"/list/1\" = {equals = 2}", {R"({"list":[1,2]})"}, {R"({"list":[2]})"});
}

TEST(ToolPolicy, ValuesAreComparedByWhatTheyMean) {
  expect("v = {equals = \"a\"}", {R"({"v":"a"})", R"({"v":"\u0061"})"},
         {R"({"v":"A"})", R"({"v":1})", R"({"v":["a"]})", R"({"v":"a "})"});
  expect("v = {one_of = [1, true, 2.5]}",
         {R"({"v":1})", R"({"v":true})", R"({"v":2.50})", R"({"v":1.0})"},
         {R"({"v":"1"})", R"({"v":2})", R"({"v":false})", R"({"v":10000000000000000000001})"});
}

TEST(ToolPolicy, NumbersHaveToBeWithinTheirRange) {
  expect("n = {min = 1, max = 10}", {R"({"n":1})", R"({"n":10})", R"({"n":1e0})", R"({"n":9.99})"},
         {R"({"n":0})", R"({"n":11})", R"({"n":-1})", R"({"n":1e2})", R"({"n":1e999})",
          R"({"n":"5"})", R"({"n":null})", R"({"n":[5]})", "{}"});
}

TEST(ToolPolicy, TextsHaveToHaveTheirLengthAndForm) {
  expect("s = {min_length = 2, max_length = 3}",
         {R"({"s":"ab"})", "{\"s\":\"\u00e4\u00f6\u00fc\"}"},
         {R"({"s":"a"})", R"({"s":"abcd"})", R"({"s":12})"});
  expect("s = {matches = \"SELECT *\"}", {R"({"s":"SELECT 1"})"},
         {R"({"s":"DROP"})", R"({"s":" SELECT 1"})"});
}

TEST(ToolPolicy, ConditionsHoldInWhateverCaseTheToolIsWritten) {
  const ToolPolicy policy = tool_policy(
      "[mcp]\nallow_tools = [\"*\"]\n[[mcp.tool]]\nname = \"read_*\"\n"
      "arguments.path = {beneath = \"/srv\"}\n");
  EXPECT_FALSE(policy.refuse("write", R"({"path":"/etc"})"));
  EXPECT_TRUE(policy.refuse("read_file", R"({"path":"/etc"})"));
  EXPECT_TRUE(policy.refuse("READ_file", R"({"path":"/etc"})"));
}

TEST(ToolPolicy, ARefusalNamesTheArgumentAndThePlace) {
  EXPECT_EQ(with("path = {beneath = \"/srv\"}").refuse("t", R"({"path":"/etc"})"),
            "the tool t may not be called so: its argument path is not below /srv (site.toml:4)");
  EXPECT_THAT(*with("a = {min = 1}").refuse("t", "[]"), HasSubstr("no object"));
}

}  // namespace
}  // namespace cordon::mcp
