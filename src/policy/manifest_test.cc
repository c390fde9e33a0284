// C75: manifests, and the ones that are refused.
#include "policy/manifest.h"

#include <gmock/gmock.h>

namespace cordon::policy {
namespace {

using testing::HasSubstr;

std::string failure(const std::string& text, const std::string& file = "m.toml") {
  const auto manifest = read_manifest(text, file);
  return manifest ? "no error" : manifest.error().message;
}

std::string with(const std::string& name, const std::string& command = "x") {
  return "name = \"" + name + "\"\nversion = \"1\"\nentrypoint = {command = \"" + command + "\"}\n";
}

TEST(Manifest, IsReadFromTomlAndJson) {
  const auto toml = read_manifest(
      "name = \"@org/server\"\nversion = \"1.2\"\ncwd = \"data\"\n[entrypoint]\ncommand = "
      "\"node\"\n"
      "args = [\"index.js\"]\n[security]\nenv = [\"A=b=c\"]\nread = [\"/srv\"]\nnetwork = "
      "\"host\"\n"
      "[security.limits]\nmemory = \"64M\"\n",
      "m.toml");
  ASSERT_TRUE(toml) << toml.error().message;
  EXPECT_EQ(toml->args, std::vector<std::string>{"index.js"});
  EXPECT_EQ(toml->env.front().first, "A");
  EXPECT_EQ(toml->env.front().second.value, "b=c");
  EXPECT_EQ(toml->network->value, Network::host);
  EXPECT_EQ(toml->limits.memory->place.line, 12U);

  const auto json = read_manifest(
      R"({"name":"a","version":"1","entrypoint":{"command":"./run","args":[]},"security":{"env":{"A":"b"}}})",
      "m.json");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->command.value, "./run");
}

TEST(Manifest, NamesThatCannotNameADirectoryAreRefused) {
  EXPECT_THAT(failure(with("a\\nb")), HasSubstr("m.toml:1:1: name \"a\\nb\" has a line break"));
  EXPECT_THAT(failure(with("a\\u0000b")), HasSubstr("NUL"));
  EXPECT_THAT(failure(with("..")), HasSubstr("\"..\""));
  EXPECT_THAT(failure(with("../../etc")), HasSubstr("\"..\""));
  EXPECT_THAT(failure(with("")), HasSubstr("is empty"));
  EXPECT_THAT(failure(with(std::string(101, 'a'))), HasSubstr("longer than 100"));
  EXPECT_EQ(failure(with("a/b")), "no error") << "a slash is replaced";
}

TEST(Manifest, PathsThatLeaveTheBundleAreRefused) {
  EXPECT_THAT(failure(with("a", "../evil")), HasSubstr("leads out of the manifest's directory"));
  EXPECT_THAT(failure(with("a", "bin/../../evil")), HasSubstr("leads out"));
  EXPECT_THAT(failure(with("a", "/bin/sh")), HasSubstr("is an absolute path"));
  EXPECT_THAT(failure(with("a", "")), HasSubstr("is empty"));
  EXPECT_THAT(failure("cwd = \"../x\"\n" + with("a")), HasSubstr("cwd \"../x\" leads out"));
  EXPECT_THAT(failure("cwd = \"/tmp\"\n" + with("a")), HasSubstr("is an absolute path"));
  EXPECT_THAT(failure(with("a") + "[security]\nread = [\"../x\"]\n"), HasSubstr("has \"..\""));
}

TEST(Manifest, MissingUnknownAndMistypedKeysAreNamed) {
  EXPECT_THAT(failure("version = \"1\"\n"), HasSubstr("\"name\" is missing"));
  EXPECT_THAT(failure("name = \"a\"\nversion = \"1\"\n"), HasSubstr("\"entrypoint\" is missing"));
  EXPECT_THAT(failure(with("a") + "entrypiont = 1\n"), HasSubstr("did you mean \"entrypoint\"?"));
  EXPECT_THAT(failure(with("a") + "[security]\nenv = [\"A\"]\n"), HasSubstr("has no value"));
  EXPECT_THAT(failure(with("a") + "[security]\nenv = [\"A B=1\"]\n"),
              HasSubstr("no name of a variable"));
  EXPECT_THAT(failure("{\"name\": 3}", "m.json"), HasSubstr("m.json:1:2: name is a whole number"));
}

}  // namespace
}  // namespace cordon::policy
