#include "mcp/source/runtime_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace cordon::mcp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A file system of names.
struct Host {
  std::map<std::string, std::string> links{};
  std::map<std::string, std::string> lines{};  // first lines of scripts
  std::set<std::string> files{};
  std::map<std::string, std::string> programs{};  // in PATH

  [[nodiscard]] RuntimeReach reach(const std::string& program,
                                   const std::string& home = "/home/me") const {
    const auto in = [](const auto& map) {
      return [&map](const std::string& key) -> std::optional<std::string> {
        const auto found = map.find(key);
        if (found == map.end()) return std::nullopt;
        return found->second;
      };
    };
    const std::vector<std::string> homes = {"/srv/accounts/me", home};
    return runtime_reach(
        program, homes,
        {.link = in(links),
         .exists = [this](const std::string& path) { return files.contains(path); },
         .first_line = [&](const std::string& path) { return in(lines)(path).value_or(""); },
         .find = in(programs)});
  }
};

TEST(RuntimeReach, NeedsNothingForProgramsOfTheSystem) {
  const auto reach =
      Host{.links = {{"/usr/bin/npx", "../share/nodejs/npm/bin/npx-cli.js"}},
           .lines = {{"/usr/share/nodejs/npm/bin/npx-cli.js", "#!/usr/bin/env node"}},
           .programs = {{"node", "/usr/bin/node"}}}
          .reach("/usr/bin/npx");
  EXPECT_THAT(reach.read, IsEmpty());
  EXPECT_THAT(reach.path, IsEmpty());
  EXPECT_EQ(reach.program, "/usr/bin/npx");
}

TEST(RuntimeReach, GrantsTheVersionOfNodeAndNotTheHomeAboveIt) {
  const std::string top = "/home/me/.nvm/versions/node/v22.1.0";
  const auto reach =
      Host{.links = {{top + "/bin/npx", "../lib/node_modules/npm/bin/npx-cli.js"}},
           .lines = {{top + "/lib/node_modules/npm/bin/npx-cli.js", "#!/usr/bin/env node"}},
           .programs = {{"node", top + "/bin/node"}}}
          .reach(top + "/bin/npx");
  EXPECT_THAT(reach.read, ElementsAre(top));
  EXPECT_EQ(reach.program, top + "/bin/npx");
  EXPECT_THAT(reach.path, IsEmpty());
}

TEST(RuntimeReach, GoesThroughALinkThatIsNotThereInside) {
  const auto reach =
      Host{.links = {{"/home/me/.local/bin/tool", "/home/me/.local/share/uv/tools/tool/bin/tool"},
                     {"/home/me/.local/share/uv/tools/tool/bin/python",
                      "/home/me/.local/share/uv/python/cpython-3.12/bin/python3.12"}},
           .lines = {{"/home/me/.local/share/uv/tools/tool/bin/tool",
                      "#!/home/me/.local/share/uv/tools/tool/bin/python"}}}
          .reach("/home/me/.local/bin/tool");
  EXPECT_EQ(reach.program, "/home/me/.local/share/uv/tools/tool/bin/tool");
  EXPECT_THAT(reach.read, UnorderedElementsAre("/home/me/.local/share/uv/tools/tool",
                                               "/home/me/.local/share/uv/python/cpython-3.12"));
}

TEST(RuntimeReach, PutsAnInterpreterInFrontOfPathThatIsReachedThroughSuchALink) {
  const auto reach = Host{.links = {{"/home/me/.fnm/current", "/home/me/.fnm/versions/v20"}},
                          .lines = {{"/opt/tool/bin/tool", "#!/usr/bin/env -S node --flag"}},
                          .programs = {{"node", "/home/me/.fnm/current/bin/node"}}}
                         .reach("/opt/tool/bin/tool");
  EXPECT_THAT(reach.read, UnorderedElementsAre("/opt/tool", "/home/me/.fnm/versions/v20"));
  EXPECT_THAT(reach.path, ElementsAre("/home/me/.fnm/versions/v20/bin"));
}

TEST(RuntimeReach, KeepsTheNameOfAPythonInItsEnvironment) {
  const auto reach = Host{.links = {{"/home/me/venv/bin/python", "python3"},
                                    {"/home/me/venv/bin/python3", "/usr/bin/python3"}},
                          .files = {"/home/me/venv/pyvenv.cfg"}}
                         .reach("/home/me/venv/bin/python");
  EXPECT_EQ(reach.program, "/home/me/venv/bin/python");
  EXPECT_THAT(reach.read, ElementsAre("/home/me/venv"));
}

TEST(RuntimeReach, GrantsThePackagesOfAProjectAndNotTheProject) {
  const std::string project = "/home/me/project";
  const auto reach =
      Host{.links = {{project + "/node_modules/.bin/server", "../pkg/dist/index.js"}},
           .files = {project + "/.env"}}
          .reach(project + "/node_modules/.bin/server");
  EXPECT_THAT(reach.read, ElementsAre(project + "/node_modules"));
}

TEST(RuntimeReach, GrantsShimsTheirManager) {
  const auto reach = Host{.lines = {{"/home/me/.pyenv/shims/python", "#!/usr/bin/env bash"}},
                          .programs = {{"bash", "/usr/bin/bash"}}}
                         .reach("/home/me/.pyenv/shims/python");
  EXPECT_THAT(reach.read, ElementsAre("/home/me/.pyenv"));
}

TEST(RuntimeReach, NeverGrantsAHomeOrWhatHoldsSecrets) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"/home/me/bin/server", {"/home/me/bin/server"}},
      {"/home/me/.local/bin/uvx", {"/home/me/.local/bin/uvx"}},
      {"/home/me/.cargo/bin/server", {"/home/me/.cargo/bin/server"}},
      {"/home/me/project/bin/server", {"/home/me/project/bin/server"}},
      {"/home/other/bin/server", {"/home/other/bin/server"}},
      {"/root/bin/server", {"/root/bin/server"}},
      {"/opt/bin/server", {"/opt/bin/server"}},
      {"/server", {"/server"}},
      {"/srv/checkout/bin/server", {"/srv/checkout/bin/server"}},
      {"/srv/accounts/me/bin/server", {"/srv/accounts/me/bin/server"}},
      {"/srv/accounts/me/.cargo/bin/server", {"/srv/accounts/me/.cargo/bin/server"}},
      {"/home/me/.ssh/bin/server", {}},
      {"/srv/accounts/me/.ssh/bin/server", {}},
      {"/home/me/.aws/node_modules/x", {}},
      {"/home/node_modules/x", {"/home/node_modules/x"}},
  };
  const Host host{.files = {"/srv/checkout/.git", "/home/me/project/.env"}};
  for (const auto& [program, read] : cases) {
    EXPECT_EQ(host.reach(program).read, read) << program;
  }
  EXPECT_THAT(host.reach("/home/me/bin/x", "/").read, ElementsAre("/home/me/bin/x"));
  EXPECT_THAT(host.reach("/home/me/bin/x", "").read, ElementsAre("/home/me/bin/x"));
}

TEST(RuntimeReach, ALinkDoesNotOpenTheDirectoryItLeadsTo) {
  // Somebody's link from a harmless place to a key.
  const auto key = Host{.links = {{"/opt/tool/bin/tool", "/home/me/.ssh/id_ed25519"}}}.reach(
      "/opt/tool/bin/tool");
  EXPECT_THAT(key.read, ElementsAre("/opt/tool"));
  const auto home = Host{.links = {{"/opt/tool", "/home/me"}}}.reach("/opt/tool/bin/tool");
  EXPECT_THAT(home.read, ElementsAre("/home/me/bin/tool"));
  EXPECT_EQ(home.program, "/home/me/bin/tool");
}

TEST(RuntimeReach, EndsWhereLinksGoInCircles) {
  const auto reach =
      Host{.links = {{"/opt/a/bin/x", "y"}, {"/opt/a/bin/y", "x"}}}.reach("/opt/a/bin/x");
  EXPECT_THAT(reach.read, IsEmpty());
  EXPECT_EQ(reach.program, "/opt/a/bin/x");
  const auto script = Host{.lines = {{"/opt/a/bin/x", "#!/opt/a/bin/x"}}}.reach("/opt/a/bin/x");
  EXPECT_THAT(script.read, ElementsAre("/opt/a"));
}

}  // namespace
}  // namespace cordon::mcp
