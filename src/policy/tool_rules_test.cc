// The tools of MCP servers in a policy: which names may be called, and how the part is read.
#include "policy/tool_rules.h"

#include <gmock/gmock.h>

#include "policy/testing.h"

namespace cordon::policy {
namespace {

using testing::HasSubstr;

ToolRules tools_in(const std::string& text) {
  const auto all = tools_of(policy_of({{"site.toml", text}}));
  return all.empty() ? ToolRules{} : all.front();
}

bool allows(const ToolRules& rules, std::string_view name) { return !refuse_tool(rules, name); }

TEST(ToolRules, AListAllowsWhatItHasAndNothingElse) {
  const ToolRules rules = tools_in("[mcp]\nallow_tools = [\"fs_read\", \"list_*\"]\n");
  for (const char* const name : {"fs_read", "list_", "list_all"}) {
    EXPECT_TRUE(allows(rules, name)) << name;
  }
  for (const char* const name : {"", "fs_write", "FS_READ", "fs_read ", "fs_rea", "xlist_a",
                                 "fs_re\u0430d", "\uff46s_read", "list_\u00e9", "list_\n"}) {
    EXPECT_FALSE(allows(rules, name)) << name;
  }
  EXPECT_FALSE(allows(rules, "list_" + std::string(300, 'a')));
  EXPECT_FALSE(allows(rules, std::string("fs_read\0", 8)));
}

TEST(ToolRules, ADeniedToolIsDeniedInWhateverCaseItIsWritten) {
  const ToolRules rules =
      tools_in("[mcp]\nallow_tools = [\"*\"]\ndeny_tools = [\"ask\", \"write_*\"]\n");
  for (const char* const name :
       {"ask", "ASK", "a\u017fk", "as\u212a", "write_file", "Write_file"}) {
    EXPECT_FALSE(allows(rules, name)) << name;
  }
  EXPECT_TRUE(allows(rules, "asks"));
  EXPECT_TRUE(allows(rules, "rewrite_file"));
}

TEST(ToolRules, AnOddNameIsAllowedByNoPatternButByItself) {
  EXPECT_FALSE(allows(tools_in("[mcp]\nallow_tools = [\"*\"]\n"), "gr\u00fcn"));
  EXPECT_FALSE(allows(tools_in("[mcp]\ndeny_tools = [\"x\"]\n"), "gr\u00fcn"));
  EXPECT_TRUE(allows(tools_in("[mcp]\nallow_tools = [\"gr\u00fcn\"]\n"), "gr\u00fcn"));
}

TEST(ToolRules, AToolWithConditionsIsListedToo) {
  const ToolRules rules =
      tools_in("[[mcp.tool]]\nname = \"read\"\narguments.path = {beneath = \"/srv\"}\n");
  EXPECT_TRUE(allows(rules, "read"));
  EXPECT_FALSE(allows(rules, "write"));
}

TEST(ToolRules, AnEmptyListAllowsNothing) {
  EXPECT_FALSE(allows(tools_in("[mcp]\nallow_tools = []\n"), "a"));
}

TEST(ToolRules, WhatTheCommandAsksForIsBoundedByEveryFile) {
  const Policy policy = policy_of({{"a.toml", "[mcp]\nallow_tools = [\"read_*\"]\n"},
                                   {"b.toml", "[mcp]\ndeny_tools = [\"read_secret\"]\n"}});
  const auto asking = [&](const std::string& name) {
    Asks asks;
    asks.tools.push_back({name, {.file = "--allow-tool"}});
    return refusal(evaluate_all(policy, asks));
  };
  EXPECT_EQ(asking("read_file"), "");
  EXPECT_EQ(asking("*"), "") << "each call is judged";
  EXPECT_EQ(asking("write_file"),
            "--allow-tool: the tool write_file is not among those that a.toml:2 allows: do "
            "without, or allow it there");
  EXPECT_THAT(asking("read_secret"), HasSubstr("is denied by b.toml:2"));
}

TEST(ToolRules, AProfileNarrowsWhatItsFileAllows) {
  const Policy policy = policy_of({{"site.toml",
                                    "[mcp]\nallow_tools = [\"a\", \"b\"]\n"
                                    "[profiles.p.mcp]\nallow_tools = [\"b\", \"c\"]\n"}},
                                  "p");
  EXPECT_EQ(tools_of(policy).size(), 2U);
}

TEST(ToolRules, WhatIsWrongInThePartIsNamedByItsPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"[mcp]\nallowed = []\n", "site.toml:2:1: unknown key \"allowed\" in mcp"},
      {"[mcp]\nallow_tools = \"a\"\n", "has to be a list of texts"},
      {"[mcp]\nallow_tools = [\"\"]\n", "names no tool"},
      {"[mcp]\ntool = {}\n", "write [[mcp.tool]]"},
      {"[[mcp.tool]]\n", "a tool without \"name\""},
      {"[[mcp.tool]]\nname = \"a\"\narguments.x = {}\n", "no condition"},
      {"[[mcp.tool]]\nname = \"a\"\narguments.x = {beneth = \"/a\"}\n", "did you mean \"beneath\""},
      {"[[mcp.tool]]\nname = \"a\"\narguments.x = {beneath = \"a\"}\n", "absolute"},
      {"[[mcp.tool]]\nname = \"a\"\narguments.x = {beneath = []}\n", "names no directory"},
      {"[[mcp.tool]]\nname = \"a\"\narguments.x = {equals = 1, one_of = [1]}\n", "leave one out"},
      {"[[mcp.tool]]\nname = \"a\"\narguments.x = {one_of = []}\n", "a list with something"},
      {"[[mcp.tool]]\nname = \"a\"\narguments.x = {equals = [1]}\n", "a text, a number"},
      {"[[mcp.tool]]\nname = \"a\"\narguments.x = {min = nan}\n", "a number"},
      {"[[mcp.tool]]\nname = \"a\"\narguments.x = {absent = true, min = 1}\n",
       "no other condition"},
      {"[[mcp.tool]]\nname = \"a\"\narguments.\"a..b\" = {min = 1}\n", "leads to no argument"},
      {"[[mcp.tool]]\nname = \"a\"\narguments.\"/\" = {min = 1}\n", "leads to no argument"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(error_of(text), HasSubstr(expected)) << text;
  }
}

TEST(ToolRules, APathOfAnArgumentIsDottedOrAPointer) {
  const ToolRules rules = tools_in(
      "[[mcp.tool]]\nname = \"a\"\n[mcp.tool.arguments]\n\"a.b\" = {min = 1}\n"
      "\"/x.y/a~1b/~01\" = {min = 1}\n");
  ASSERT_EQ(rules.rules.size(), 1U);
  ASSERT_EQ(rules.rules[0].arguments.size(), 2U);
  EXPECT_EQ(rules.rules[0].arguments[0].path, (std::vector<std::string>{"x.y", "a/b", "~1"}));
  EXPECT_EQ(rules.rules[0].arguments[1].path, (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace cordon::policy
