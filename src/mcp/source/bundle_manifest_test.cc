#include "mcp/source/bundle_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cordon::mcp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

constexpr std::string_view kManifest = R"({
  "manifest_version": "0.3", "name": "files", "version": "1.2.0", "author": {"name": "x"},
  "server": {
    "type": "node", "entry_point": "server/index.js",
    "mcp_config": {
      "command": "node",
      "args": ["${__dirname}/server/index.js", "--at=${HOME}${/}x", "${user_config.dirs}",
               "--level=${user_config.level}"],
      "env": {"API_KEY": "${user_config.key}", "LEVEL": "${user_config.level}",
              "OTHER": "${user_config.other}"},
      "platform_overrides": {"linux": {"env": {"LEVEL": "linux"}}, "win32": {"command": "node.exe"}}
    }
  },
  "user_config": {
    "dirs": {"type": "directory", "title": "Where", "multiple": true, "required": true},
    "key": {"type": "string", "title": "API key", "sensitive": true, "required": true},
    "level": {"type": "number", "default": 3, "min": 1, "max": 9},
    "other": {"type": "string"}
  },
  "compatibility": {"platforms": ["darwin", "linux"]}
})";

Result<Launch> launch(const Given& given, std::string_view text = kManifest) {
  auto manifest = read_bundle_manifest(text, "manifest.json");
  if (!manifest) return std::unexpected(manifest.error());
  return launch_bundle(*manifest, {.directory = "/b", .home = "/home/me"}, given, "manifest.json");
}

TEST(BundleManifest, BecomesACommandWithItsSettings) {
  const auto made = launch({.values = {{"dirs", {"/a", "/c"}}}, .secrets = {"key"}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->command, "node");
  EXPECT_THAT(made->args,
              ElementsAre("/b/server/index.js", "--at=/home/me/x", "/a", "/c", "--level=3"));
  EXPECT_THAT(made->env, ElementsAre(Pair("LEVEL", "linux")));
  ASSERT_EQ(made->secrets.size(), 1U);
  EXPECT_EQ(made->secrets[0].variable, "API_KEY");
  EXPECT_EQ(made->secrets[0].secret, "key");
  EXPECT_THAT(made->paths, ElementsAre("/a", "/c"));
  EXPECT_EQ(made->name, "files");
}

TEST(BundleManifest, TakesASecretByTheNameOfItsVariableToo) {
  const auto made = launch({.values = {{"dirs", {"/a"}}}, .secrets = {"API_KEY"}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->secrets, IsEmpty());
  EXPECT_THAT(made->env, ElementsAre(Pair("LEVEL", "linux")));
}

TEST(BundleManifest, NamesEverythingThatIsMissingAtOnce) {
  const auto made = launch({});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message,
              AllOf(HasSubstr("--set dirs=…  (Where)"), HasSubstr("--secret key=file:PATH"),
                    HasSubstr("API key"), Not(HasSubstr("level"))));
}

TEST(BundleManifest, RefusesASecretOnTheCommandLine) {
  const auto made = launch({.values = {{"dirs", {"/a"}}, {"key", {"canary"}}}});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, AllOf(HasSubstr("--secret key="), Not(HasSubstr("canary"))));
}

TEST(BundleManifest, RefusesSettingsThatAreNone) {
  const std::vector<std::pair<Given, std::string>> cases = {
      {{.values = {{"dir", {"/a"}}}}, "did you mean dirs?"},
      {{.values = {{"dirs", {"relative"}}}}, "no absolute path"},
      {{.values = {{"dirs", {"/a"}}, {"level", {"x"}}}, .secrets = {"key"}}, "no number"},
      {{.values = {{"dirs", {"/a"}}, {"level", {"10"}}}, .secrets = {"key"}}, "too large"},
      {{.values = {{"dirs", {"/a"}}, {"level", {"1", "2"}}}, .secrets = {"key"}}, "one value"},
  };
  for (const auto& [given, why] : cases) {
    const auto made = launch(given);
    ASSERT_FALSE(made) << why;
    EXPECT_THAT(made.error().message, HasSubstr(why));
  }
}

std::string with_server(const std::string& server, const std::string& more = "") {
  return R"({"manifest_version": "0.1", "name": "n", "version": "1", "server": )" + server + more +
         "}";
}

TEST(BundleManifest, RefusesASecretWhereOthersCouldSeeIt) {
  const std::string config = R"(, "user_config": {"key": {"type": "string", "sensitive": true}})";
  for (const char* const place :
       {R"("args": ["${user_config.key}"])", R"("args": ["--key=${user_config.key}"])",
        R"("env": {"A": "Bearer ${user_config.key}"})"}) {
    const std::string text = with_server(
        std::string(R"({"type": "binary", "mcp_config": {"command": "x", )") + place + "}}",
        config);
    const auto made = launch({.secrets = {"key"}}, text);
    ASSERT_FALSE(made) << place;
    EXPECT_EQ(made.error().code, ErrorCode::unsupported);
    EXPECT_TRUE(launch({}, text)) << "it is optional";
  }
}

TEST(BundleManifest, RunsAProjectOfUvWithoutFurtherWords) {
  const auto made = launch({}, with_server(R"({"type": "uv", "entry_point": "src/server.py"})"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->command, "uv");
  EXPECT_THAT(made->args, ElementsAre("run", "--directory", "/b", "/b/src/server.py"));
}

TEST(BundleManifest, SaysWhatIsWrongAndWhere) {
  const std::string good = R"({"type": "node", "mcp_config": {"command": "x"}})";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not JSON"},
      {"[]", "not a JSON object"},
      {R"({"a": 1, "a": 2})", "not JSON"},
      {R"({"name": "n"})", "manifest_version is missing"},
      {R"({"manifest_version": "9"})", "manifest_version is not known"},
      {R"({"manifest_version": "0.2", "version": "1"})", "name is missing"},
      {R"({"manifest_version": "0.2", "name": "n", "version": "1"})", "server is missing"},
      {with_server(R"({"type": "java", "mcp_config": {"command": "x"}})"), "server.type"},
      {with_server(R"({"type": "node"})"), "server.mcp_config.command is missing"},
      {with_server(R"({"type": "node", "mcp_config": {"command": "x", "args": [1]}})"),
       "server.mcp_config.args[0] is no string"},
      {with_server(R"({"type": "node", "mcp_config": {"command": "x", "env": {"A": 1}}})"),
       "server.mcp_config.env.A is no string"},
      {with_server(good, R"(, "user_config": {"a": {"type": "odd"}})"), "user_config.a.type"},
      {with_server(good, R"(, "user_config": {"a": {"type": "string", "sensitive": 1}})"),
       "user_config.a.sensitive"},
      {with_server(good, R"(, "compatibility": {"platforms": ["win32"]})"), "not for here"},
      {with_server(R"({"type": "node", "mcp_config": {"command": "${what}"}})"), "${what}"},
      {with_server(R"({"type": "node", "mcp_config": {"command": "${__dirname"}})"), "without"},
      {with_server(R"({"type": "node", "mcp_config": {"command": "${user_config.no}"}})"),
       "no such user_config"},
  };
  for (const auto& [text, why] : cases) {
    const auto made = launch({}, text);
    ASSERT_FALSE(made) << text;
    EXPECT_THAT(made.error().message, AllOf(HasSubstr("manifest.json"), HasSubstr(why)));
  }
}

}  // namespace
}  // namespace cordon::mcp
