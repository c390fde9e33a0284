#include "mcp/source/installed_package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace cordon::mcp {
namespace {

using testing::ElementsAre;

std::optional<NpxCall> call_of(std::vector<std::string> args) { return parse_npx(args); }

TEST(InstalledPackage, UnderstandsWhatNpxIsAskedFor) {
  const auto call = call_of({"-y", "@me/weather@1.2.3", "--unit", "C"});
  ASSERT_TRUE(call);
  EXPECT_EQ(call->name, "@me/weather");
  EXPECT_EQ(call->version, "1.2.3");
  EXPECT_THAT(call->args, ElementsAre("--unit", "C"));
  EXPECT_EQ(call_of({"weather@latest"})->version, "");
  EXPECT_EQ(call_of({"--yes", "weather"})->name, "weather");
  for (const char* const odd :
       {"", "-p", "--package=x", "../up", "/abs", "a/b", "@a", "@a/b/c", "@../b", "a b", "a@^1.0",
        "a@1.x", "a@1", "a@next", "git+ssh://x", "./here", "-c"}) {
    EXPECT_FALSE(call_of({odd})) << odd;
  }
  EXPECT_FALSE(call_of({}));
  EXPECT_FALSE(call_of({"-y"}));
}

TEST(InstalledPackage, FindsTheProgramOfTheVersionThatIsAskedFor) {
  const std::map<std::string, std::string> files = {
      {"/a/node_modules/w/package.json", R"({"version": "1.0.0", "bin": "dist/old.js"})"},
      {"/b/node_modules/w/package.json",
       R"({"version": "2.0.0", "bin": {"w": "./new.js", "x": "y"}})"},
      {"/b/node_modules/@me/one/package.json", R"({"version": "1.0.0", "bin": {"other": "o.js"}})"},
      {"/b/node_modules/two/package.json", R"({"bin": {"x": "1", "y": "2"}})"},
      {"/b/node_modules/none/package.json", R"({"version": "1.0.0"})"},
      {"/b/node_modules/up/package.json", R"({"bin": "../../../etc/x"})"},
      {"/b/node_modules/odd/package.json", "{"},
  };
  const std::vector<std::string> places = {"/a/node_modules", "/b/node_modules"};
  const auto found = [&](const std::string& package) {
    return installed_program(*call_of({package}), places,
                             {.read = [&](const std::string& path) -> std::optional<std::string> {
                               const auto file = files.find(path);
                               if (file == files.end()) return std::nullopt;
                               return file->second;
                             }})
        .value_or("");
  };
  EXPECT_EQ(found("w"), "/a/node_modules/w/dist/old.js");
  EXPECT_EQ(found("w@2.0.0"), "/b/node_modules/w/new.js");
  EXPECT_EQ(found("w@3.0.0"), "");
  EXPECT_EQ(found("@me/one"), "/b/node_modules/@me/one/o.js");
  for (const char* const package : {"two", "none", "up", "odd", "absent"}) {
    EXPECT_EQ(found(package), "") << package;
  }
}

}  // namespace
}  // namespace cordon::mcp
