#include "mcp/source/server_json.h"

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

std::string with_packages(const std::string& packages) {
  return R"({"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
             "name": "io.github.me/weather", "description": "d", "version": "1.0.0",
             "packages": [)" +
         packages + "]}";
}

constexpr const char* kNpm = R"({
  "registryType": "npm", "identifier": "@me/weather", "version": "1.0.2",
  "transport": {"type": "stdio"},
  "runtimeArguments": [{"type": "named", "name": "--loglevel", "value": "error"}],
  "packageArguments": [
    {"type": "positional", "value": "serve"},
    {"type": "positional", "valueHint": "place", "isRequired": true, "isRepeated": true},
    {"type": "named", "name": "--unit", "default": "C", "choices": ["C", "F"]},
    {"type": "named", "name": "--mount", "value": "src={from},dst=/x",
     "variables": {"from": {"format": "filepath", "default": "/none"}}}],
  "environmentVariables": [
    {"name": "WEATHER_KEY", "isRequired": true, "isSecret": true, "description": "The key"},
    {"name": "LEVEL", "default": "info"},
    {"name": "FIXED", "value": "1"}]
})";

Result<Launch> launch(const std::string& text, const Given& given, std::string_view type = "") {
  const auto server = read_server_json(text, "server.json");
  if (!server) return std::unexpected(server.error());
  const auto package = choose_package(*server, type, "server.json");
  if (!package) return std::unexpected(package.error());
  return launch_package(*package, given, "server.json");
}

TEST(ServerJson, BecomesACommandOfItsRuntime) {
  const auto made =
      launch(with_packages(kNpm),
             {.values = {{"place", {"a", "b"}}, {"from", {"/f"}}}, .secrets = {"WEATHER_KEY"}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->command, "npx");
  EXPECT_THAT(made->args, ElementsAre("-y", "--loglevel", "error", "@me/weather@1.0.2", "serve",
                                      "a", "b", "--unit", "C", "--mount", "src=/f,dst=/x"));
  EXPECT_THAT(made->env, ElementsAre(Pair("LEVEL", "info"), Pair("FIXED", "1")));
  ASSERT_EQ(made->secrets.size(), 1U);
  EXPECT_EQ(made->secrets[0].variable, "WEATHER_KEY");
  EXPECT_THAT(made->paths, ElementsAre("/f"));
}

TEST(ServerJson, NamesEverythingThatIsMissingAtOnce) {
  const auto made = launch(with_packages(kNpm), {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message,
              AllOf(HasSubstr("--set place=…"), HasSubstr("--secret WEATHER_KEY=file:PATH"),
                    HasSubstr("The key"), Not(HasSubstr("unit"))));
}

TEST(ServerJson, RefusesValuesThatWillNotDo) {
  const auto unit = launch(with_packages(kNpm), {.values = {{"place", {"a"}}, {"unit", {"K"}}},
                                                 .secrets = {"WEATHER_KEY"}});
  ASSERT_FALSE(unit);
  EXPECT_THAT(unit.error().message, HasSubstr("none of C, F"));
  const auto key =
      launch(with_packages(kNpm), {.values = {{"place", {"a"}}, {"WEATHER_KEY", {"canary"}}}});
  ASSERT_FALSE(key);
  EXPECT_THAT(key.error().message, AllOf(HasSubstr("--secret"), Not(HasSubstr("canary"))));
}

std::string package(const std::string& type, const std::string& more = "",
                    const std::string& transport = "stdio") {
  return R"({"registryType": ")" + type +
         R"(", "identifier": "x", "version": "2", "transport": {"type": ")" + transport + "\"}" +
         more + "}";
}

TEST(ServerJson, KnowsTheRuntimesOfItsTypes) {
  const auto pypi = launch(with_packages(package("pypi")), {});
  ASSERT_TRUE(pypi) << pypi.error().message;
  EXPECT_EQ(pypi->command, "uvx");
  EXPECT_THAT(pypi->args, ElementsAre("x@2"));
  const auto nuget = launch(with_packages(package("nuget")), {});
  ASSERT_TRUE(nuget);
  EXPECT_EQ(nuget->command, "dnx");
  EXPECT_THAT(nuget->args, ElementsAre("--yes", "x@2", "--"));
  const auto bundle = launch(with_packages(package("mcpb")), {});
  ASSERT_TRUE(bundle);
  EXPECT_EQ(bundle->command, "");
  EXPECT_THAT(bundle->args, IsEmpty());
}

TEST(ServerJson, ChoosesNoPackageForTheUser) {
  const std::string both = with_packages(package("npm") + "," + package("pypi"));
  const auto open = launch(both, {});
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().message, AllOf(HasSubstr("--package npm"), HasSubstr("--package pypi")));
  EXPECT_TRUE(launch(both, {}, "pypi"));
  const auto other = launch(both, {}, "nuget");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::not_found);
  // One that cannot be run is no choice.
  EXPECT_TRUE(launch(with_packages(package("oci") + "," + package("npm") + "," +
                                   package("npm", "", "streamable-http")),
                     {}));
}

TEST(ServerJson, RefusesASecretWhereOthersCouldSeeIt) {
  const std::string text = with_packages(package(
      "npm", R"(, "packageArguments": [{"type": "named", "name": "--key", "isSecret": true}])"));
  const auto made = launch(text, {.secrets = {"key"}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(launch(text, {}));
}

TEST(ServerJson, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{", "not JSON"},
      {"{}", "name is missing"},
      {R"({"name": "n", "version": "1"})", "no packages"},
      {with_packages("1"), "packages[0] is no object"},
      {with_packages(package("cargo")), "packages[0].registryType"},
      {with_packages(R"({"registryType": "npm", "transport": {"type": "stdio"}})"),
       "packages[0].identifier is missing"},
      {with_packages(
           R"({"registryType": "npm", "identifier": "--eval", "transport": {"type": "stdio"}})"),
       "begins with"},
      {with_packages(
           R"({"registryType": "npm", "identifier": "a b", "transport": {"type": "stdio"}})"),
       "blank"},
      {with_packages(R"({"registryType": "npm", "identifier": "a"})"), "transport is missing"},
      {with_packages(package("npm", R"(, "fileSha256": "AB")")), "fileSha256"},
      {with_packages(package("npm", R"(, "runtimeHint": "sh")")), "not known for this type"},
      {with_packages(package("npm", R"(, "packageArguments": [{"type": "odd"}])")),
       "packageArguments[0].type"},
      {with_packages(package("oci")), "is an image"},
      {with_packages(package("npm", "", "sse")), "stdin and stdout"},
      {with_packages(package("npm", R"(, "packageArguments": [
          {"type": "positional", "valueHint": "a"}, {"type": "positional", "valueHint": "a"}])")),
       "which another setting has"},
  };
  for (const auto& [text, why] : cases) {
    const auto made = launch(text, {});
    ASSERT_FALSE(made) << text;
    EXPECT_THAT(made.error().message, AllOf(HasSubstr("server.json"), HasSubstr(why)));
  }
}

}  // namespace
}  // namespace cordon::mcp
