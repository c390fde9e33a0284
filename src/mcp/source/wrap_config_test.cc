#include "mcp/source/wrap_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cordon::mcp {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string wrapped(std::string_view text, std::vector<std::string> run_options = {},
                    std::vector<std::string> names = {}) {
  const auto result = wrap_config(text, "client.json",
                                  {.cordon = "/usr/bin/cordon",
                                   .names = std::move(names),
                                   .run_options = std::move(run_options)});
  EXPECT_TRUE(result) << result.error().message;
  return result ? apply_edits(text, result->edits) : "";
}

std::string unwrapped(std::string_view text) {
  const auto result = unwrap_config(text, "client.json", {});
  EXPECT_TRUE(result) << result.error().message;
  return result ? apply_edits(text, result->edits) : "";
}

constexpr std::string_view kCommented = R"({
  // mine
  "mcpServers": {
    "notes": {
      "command": "n\u0070x", /* odd */
      "args": [
        // why
        "-y",
        "server", "~/notes",
      ],
      "env": {"KEY": "canary", "B": ""},
    },
    "bare": {"command" : "uvx"},
    "empty": {"args": [ ], "command": "x", "cwd": "/srv"},
    "far": {"type": "http", "url": "https://example.com/mcp"},
  },
  "other": [1, 2.50, {"command": "untouched"}]
}
)";

TEST(WrapConfig, ChangesCommandAndArgumentsAndNothingElse) {
  EXPECT_EQ(wrapped(R"({"mcpServers":{"a":{"command":"npx","args":["-y","s"]}}})"),
            R"({"mcpServers":{"a":{"command":"/usr/bin/cordon","args":["mcp", "run", "--wrapped", )"
            R"("args", "--", "npx", "-y","s"]}}})");
  const std::string text = wrapped(kCommented);
  EXPECT_THAT(
      text, AllOf(HasSubstr("// mine"), HasSubstr("/* odd */"), HasSubstr("// why"),
                  HasSubstr(R"("--", "n\u0070x", )"), HasSubstr("2.50"),
                  HasSubstr(R"({"command": "untouched"})"), HasSubstr("https://example.com/mcp")));
}

TEST(WrapConfig, GoesBackToTheVeryBytes) {
  for (const std::string_view text :
       {kCommented, std::string_view(R"({"servers":{"a":{"command":"x"}}})"),
        std::string_view("\xEF\xBB\xBF{\"servers\":{\"a\":{\"args\":[/**/],\"command\":\"x\"}}}"),
        std::string_view("{\"servers\":{\"a\":{\"args\":[\"1\"\r\n,\"2\"],\"command\":\"x\"}}}"),
        std::string_view(R"({"servers":{"a":{"command":"--","env":{"--":""},"cwd":"--"}}})")}) {
    EXPECT_EQ(unwrapped(wrapped(text)), text);
    EXPECT_EQ(unwrapped(wrapped(text, {"--read", "/a b", "--net", "host"})), text);
  }
}

TEST(WrapConfig, IsDoneOnce) {
  const std::string once = wrapped(kCommented);
  EXPECT_EQ(wrapped(once, {"--net", "host"}), once);
  EXPECT_EQ(unwrapped(kCommented), kCommented);
}

TEST(WrapConfig, PassesVariablesOnByNameAlone) {
  const std::string text =
      wrapped(R"({"servers":{"a":{"command":"x","env":{"KEY":"canary"},"cwd":"/srv"}}})");
  EXPECT_THAT(text, AllOf(HasSubstr(R"("--env=KEY", "--cwd=/srv", "--", "x")"),
                          Not(HasSubstr("KEY=canary"))));
}

TEST(WrapConfig, LeavesServersAloneThatAreReachedByUrlOrNotNamed) {
  const auto result = wrap_config(kCommented, "f", {.cordon = "/c/cordon", .names = {"far"}});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->edits.empty());
  ASSERT_EQ(result->servers.size(), 1U);
  EXPECT_EQ(result->servers[0].kind, ServerChange::Kind::unfit);
  EXPECT_THAT(result->servers[0].note, HasSubstr("URL"));
  EXPECT_THAT(wrapped(kCommented, {}, {"bare"}), HasSubstr(R"("command": "n\u0070x")"));
}

TEST(WrapConfig, KeepsWhatWasEditedMeanwhile) {
  std::string text = wrapped(R"({"servers":{"a":{"command":"x","args":["1"]}}})");
  text.replace(text.find(R"("1"])"), 4, R"("1", "2"])");
  text.insert(1, "\n// later\n");
  EXPECT_EQ(unwrapped(text),
            "{\n// later\n\"servers\":{\"a\":{\"command\":\"x\",\"args\":[\"1\", \"2\"]}}}");
  // Also what an editor has formatted anew, and what was given arguments only afterwards.
  std::string bare = wrapped(R"({"servers":{"a":{"command":"x"}}})");
  bare.replace(bare.find(R"(, "args": [)"), 11, ",\n\"args\": [\n");
  EXPECT_EQ(unwrapped(bare), "{\"servers\":{\"a\":{\"command\":\"x\",\n\"args\": []}}}");
}

TEST(WrapConfig, SaysWhatCannotBeUnwrapped) {
  const auto result = unwrap_config(
      R"({"servers":{"a":{"command":"cordon","args":["mcp","run","--wrapped","args"]},
                     "b":{"command":"cordon","args":["mcp","run","--","x"]}}})",
      "f", {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->edits.empty());
  EXPECT_EQ(result->servers[0].kind, ServerChange::Kind::unfit);
  EXPECT_EQ(result->servers[1].kind, ServerChange::Kind::already);
}

TEST(WrapConfig, RefusesFilesThatItDoesNotUnderstand) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "line 1"},
      {"{\"servers\": {}", "the end is missing"},
      {"[]", "neither an object"},
      {"{\"servers\": []}", "neither an object"},
      {"{\"servers\": {\"a\": 1}}", "not an object"},
      {"{\"servers\": {\"a\": {\"command\": 1}}}", "no string"},
      {"{\"servers\": {\"a\": {\"command\": \"x\", \"args\": [1]}}}", "no array of strings"},
      {"{\"servers\": {\"a\": {\"command\": \"x\",\n\"command\": \"y\"}}}", "line 2"},
      {"{\"servers\": {} /* no end", "comment without"},
      {"{\"servers\": {\"a\" 1}}", "no \":\""},
      {"{\"servers\": {}} x", "behind the end"},
      {"{\"servers\": {\"a\": nul}}", "no value"},
      {"{\"servers\": {\"a\": \"\\x\"}}", "none in JSON"},
      {std::string(100, '['), "too deep"},
  };
  for (const auto& [text, expected] : cases) {
    const auto result = wrap_config(text, "client.json", {.cordon = "/c/cordon"});
    ASSERT_FALSE(result) << text;
    EXPECT_THAT(result.error().message, AllOf(HasSubstr("client.json"), HasSubstr(expected)));
  }
  const auto none = wrap_config(kCommented, "f", {.cordon = "/c", .names = {"note"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_THAT(none.error().message, HasSubstr("did you mean notes?"));
}

TEST(WrapConfig, RefusesAnOptionThatWouldHideTheWayBack) {
  const auto result =
      wrap_config(kCommented, "f", {.cordon = "/c/cordon", .run_options = {"--read", "--"}});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("--OPTION=--"));
}

TEST(WrapConfig, ShowsTheLinesThatChange) {
  const std::string text =
      "{\"servers\": {\n\"a\": {\"command\": \"x\",\n\"args\": [\"1\"]},\n"
      "\"b\": {}\n,\"c\": {\"command\": \"y\"}}}";
  const auto result = wrap_config(text, "f", {.cordon = "/c/cordon"});
  ASSERT_TRUE(result);
  EXPECT_EQ(diff_of(text, result->edits, "f"),
            "--- f\n+++ f\n@@ -2,2 +2,2 @@\n-\"a\": {\"command\": \"x\",\n-\"args\": [\"1\"]},\n"
            "+\"a\": {\"command\": \"/c/cordon\",\n"
            "+\"args\": [\"mcp\", \"run\", \"--wrapped\", \"args\", \"--\", \"x\", \"1\"]},\n"
            "@@ -5,1 +5,1 @@\n-,\"c\": {\"command\": \"y\"}}}\n"
            "+,\"c\": {\"command\": \"/c/cordon\", \"args\": [\"mcp\", \"run\", \"--wrapped\", "
            "\"alone\", \"--\", \"y\"]}}}\n");
}

}  // namespace
}  // namespace cordon::mcp
