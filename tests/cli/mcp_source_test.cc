// What SERVER may be in cordon mcp run SERVER.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/sha256.h"
#include "fixture.h"
#include "mcp/source/zip_testing.h"

namespace cordon::cli {
namespace {

using mcp::ZipBuilder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPing = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

constexpr const char* kManifest = R"({"manifest_version": "0.3", "name": "demo", "version": "1",
  "server": {"type": "binary", "entry_point": "server.sh", "mcp_config": {
    "command": "${__dirname}/server.sh", "args": ["${user_config.dir}"],
    "env": {"KEY": "${user_config.key}", "LEVEL": "${user_config.level}"}}},
  "user_config": {"dir": {"type": "directory", "title": "Where", "required": true},
                  "key": {"type": "string", "sensitive": true, "required": true},
                  "level": {"type": "number", "default": 3}}})";

constexpr const char* kScript =
    "#!/bin/sh\n"
    "echo \"args=$* key=$KEY level=$LEVEL\" >&2\n"
    "ls \"$1\" >&2\n"
    "touch \"$(dirname \"$0\")/mine\" 2>/dev/null && echo bundle was changed >&2\n"
    "touch \"$1/mine\" 2>/dev/null && echo directory was changed >&2\n"
    "touch here && echo works in its own >&2\n"
    "cat\n";

ZipBuilder::Entry script(const std::string& name, const std::string& text) {
  auto entry = ZipBuilder::deflated(name, text);
  entry.mode = 0100755;
  return entry;
}

class McpSource : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    std::filesystem::create_directory(path("data"));
    std::filesystem::permissions(directory(), std::filesystem::perms(0755));
    (void)file("data/granted", "");
    (void)file("key", "sesame-canary");
    cache_ = path("cache");
  }

  // Nothing of the bundle is left, whatever happened.
  void TearDown() override {
    if (std::filesystem::exists(cache_ + "/work")) {
      EXPECT_TRUE(std::filesystem::is_empty(cache_ + "/work"));
    }
    CliTest::TearDown();
  }

  [[nodiscard]] Command command(const std::vector<std::string>& server,
                                const std::vector<std::string>& options) const {
    std::vector<std::string> all = {"mcp", "run", "--workdir", "--cache", cache_};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), server.begin(), server.end());
    return Command(all);
  }
  [[nodiscard]] Ended run(const std::vector<std::string>& server,
                          const std::vector<std::string>& options = {}) const {
    return command(server, options).input(kPing).run();
  }
  // Without input, which nobody would read.
  [[nodiscard]] Ended refuse(const std::vector<std::string>& server,
                             const std::vector<std::string>& options = {}) const {
    return command(server, options).run();
  }
  [[nodiscard]] std::vector<std::string> settings() const {
    return {"--set", "dir=" + path("data"), "--secret", "key=file:" + path("key")};
  }
  // Replaces what is there.
  [[nodiscard]] std::string bundle(const std::string& name, const std::string& archive) const {
    std::filesystem::remove(path(name));
    return file(name, archive);
  }
  void expect_runs(const Ended& ended) const {
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out, kPing);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("args=" + path("data")), HasSubstr("key=sesame-canary"),
                                 HasSubstr("level=3"), HasSubstr("granted"),
                                 HasSubstr("works in its own"), Not(HasSubstr("was changed"))));
  }

  std::string cache_;
};

TEST_F(McpSource, RunsABundleWithItsSettingsAndLetsItReadOnly) {
  const std::string server =
      bundle("demo.mcpb",
             ZipBuilder().add("manifest.json", kManifest).add(script("server.sh", kScript)).str());
  expect_runs(run({server}, settings()));
}

TEST_F(McpSource, RunsTheFolderOfABundleOrItsManifest) {
  std::filesystem::create_directory(path("folder"));
  (void)file("folder/manifest.json", kManifest);
  (void)file("folder/server.sh", kScript, true);
  expect_runs(run({path("folder")}, settings()));
  expect_runs(run({path("folder/manifest.json")}, settings()));
  EXPECT_FALSE(std::filesystem::exists(path("folder/mine")));
}

TEST_F(McpSource, NamesWhatIsMissingAndRefusesSecretsOnTheCommandLine) {
  const std::string server =
      bundle("demo.mcpb",
             ZipBuilder().add("manifest.json", kManifest).add(script("server.sh", kScript)).str());
  const Ended missing = refuse({server});
  EXPECT_EQ(missing.status, 125);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("--set dir=…  (Where)"), HasSubstr("--secret key=")));
  const Ended open = refuse({server}, {"--set", "dir=/tmp", "--set", "key=canary"});
  EXPECT_EQ(open.status, 125);
  EXPECT_THAT(open.err, AllOf(HasSubstr("--secret key=file:PATH"), Not(HasSubstr("canary"))));
  EXPECT_THAT(refuse({server}, {"--set", "drr=/tmp"}).err, HasSubstr("it has dir, key, level"));
  EXPECT_THAT(refuse({server}, {"--set", "dir"}).err, HasSubstr("KEY=VALUE"));
}

TEST_F(McpSource, RefusesBundlesThatAreAttacks) {
  auto link = ZipBuilder::stored("link", "/etc/passwd");
  link.mode = 0120777;
  auto damaged = ZipBuilder::stored("a", "x");
  damaged.crc ^= 1U;
  auto bomb = ZipBuilder::deflated("bomb", "x");
  bomb.size = 0x7FFFFFFF;
  auto hidden = ZipBuilder::stored("a", "x");
  hidden.flags = 1;
  const auto good = [] { return ZipBuilder().add("manifest.json", kManifest); };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {good().add("../up", "x").str(), "leads out"},
      {good().add("/abs", "x").str(), "absolute"},
      {good().add(link).str(), "symbolic link"},
      {good().add("a", "1").add("a", "2").str(), "twice"},
      {good().add("a", "1").add("A", "2").str(), "in case alone"},
      {good().add(damaged).str(), "CRC"},
      {good().add(bomb).str(), "larger unpacked"},
      {good().add(hidden).str(), "encrypted"},
      {good().add("manifest.json", kManifest).str(), "twice"},
      {ZipBuilder().add("other.json", kManifest).str(), "no manifest.json"},
      {ZipBuilder().add("sub/manifest.json", kManifest).str(), "no manifest.json"},
      {ZipBuilder().add("manifest.json", "{").str(), "not JSON"},
      {good().str().substr(0, 100), "no zip archive"},
      {"", "no zip archive"},
  };
  for (const auto& [archive, why] : cases) {
    const Ended ended = refuse({bundle("odd.mcpb", archive)}, settings());
    EXPECT_EQ(ended.status, 125) << why;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, AllOf(HasSubstr("odd.mcpb"), HasSubstr(why)));
    EXPECT_TRUE(!std::filesystem::exists(cache_ + "/work") ||
                std::filesystem::is_empty(cache_ + "/work"))
        << why;
  }
  EXPECT_FALSE(std::filesystem::exists(path("up")));
}

TEST_F(McpSource, RunsAPublishedBundleOnlyIfItIsTheOneThatWasPublished) {
  const std::string archive =
      ZipBuilder().add("manifest.json", kManifest).add(script("server.sh", kScript)).str();
  (void)bundle("demo-1.mcpb", archive);
  const auto described = [&](const std::string& digest) {
    return bundle("server.json", R"({"name": "a/b", "version": "1", "packages": [{
        "registryType": "mcpb", "identifier": "https://example.com/releases/demo-1.mcpb",
        "fileSha256": ")" + digest + R"(", "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "published"}]}]})");
  };
  expect_runs(run({described(base::to_hex(base::sha256(archive)))}, settings()));
  const Ended other = refuse({described(base::to_hex(base::sha256("other")))}, settings());
  EXPECT_EQ(other.status, 125);
  EXPECT_THAT(other.err, HasSubstr("not the file that was published"));
  std::filesystem::remove(path("demo-1.mcpb"));
  EXPECT_THAT(refuse({path("server.json")}, settings()).err,
              HasSubstr("fetch it from https://example.com/releases/demo-1.mcpb"));
}

TEST_F(McpSource, RunsAServerOfTheRegistryByTheRuntimeOfTheUser) {
  // A runtime in a place of its own, found by the caller's PATH alone.
  std::filesystem::create_directories(path("node/bin"));
  std::filesystem::create_directories(path("node/lib"));
  (void)file("node/lib/own", "library\n");
  (void)file("node/bin/npx",
             "#!/bin/sh\necho \"npx $* $(cat \"$(dirname \"$0\")/../lib/own\") $LEVEL\" >&2\ncat\n",
             true);
  const std::string server = file("server.json", R"({"name": "a/b", "version": "1", "packages": [{
      "registryType": "npm", "identifier": "@me/weather", "version": "1.2.3",
      "transport": {"type": "stdio"},
      "packageArguments": [{"type": "named", "name": "--unit", "default": "C"}],
      "environmentVariables": [{"name": "LEVEL", "default": "info"}]}]})");
  const Ended ended =
      Command({"mcp", "run", "--cache", cache_, "--workdir", "--set", "unit=F", server, "more"})
          .input(kPing)
          .environment("PATH", path("node/bin") + ":/usr/bin:/bin")
          .run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, kPing);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("npx -y @me/weather@1.2.3 --unit F more library info"),
                               HasSubstr("there is no network")));
}

TEST_F(McpSource, RunsAnInstalledPackageWithoutTheProgramThatWouldFetchIt) {
  const std::string modules = "home/.npm/_npx/0123/node_modules";
  std::filesystem::create_directories(path(modules + "/@me/weather/dist"));
  std::filesystem::create_directories(path("bin"));
  (void)file("bin/npx", "#!/bin/sh\necho fetching >&2\ncat >/dev/null\nexit 9\n", true);
  (void)file("home/.npm/secret", "canary");
  (void)file(modules + "/@me/weather/package.json",
             R"({"version": "1.2.3", "bin": {"weather": "dist/index.js"}})");
  (void)file(modules + "/@me/weather/dist/index.js",
             "#!/bin/sh\necho \"weather $*\" >&2\ncat " + path("home/.npm/secret") + "\ncat\n",
             true);
  const auto npx = [&](const std::string& package) {
    return Command({"mcp", "run", "--cache", cache_, "--workdir", "--", "npx", "-y", package, "C"})
        .input(kPing)
        .environment("HOME", path("home"))
        .environment("PATH", path("bin") + ":/usr/bin:/bin")
        .run();
  };
  const Ended installed = npx("@me/weather@1.2.3");
  EXPECT_EQ(installed.status, 0) << installed.err;
  EXPECT_EQ(installed.out, kPing);
  EXPECT_THAT(installed.err, AllOf(HasSubstr("weather C"), Not(HasSubstr("canary"))));
  const Ended other = npx("@me/weather@2.0.0");
  EXPECT_EQ(other.status, 9);
  EXPECT_THAT(other.err, AllOf(HasSubstr("there is no network"), HasSubstr("fetching")));
}

TEST_F(McpSource, SeesNothingBesideAProgramOfTheUsersOwn) {
  std::filesystem::create_directories(path("home/bin"));
  (void)file("home/secret", "canary");
  const std::string program = file("home/bin/server",
                                   "#!/bin/sh\ncat ../secret " + path("home/secret") + " >&2\nls " +
                                       path("home") + " >&2\ncat\n",
                                   true);
  const Ended ended = Command({"mcp", "run", "--cache", cache_, "--workdir", "--", "server"})
                          .input(kPing)
                          .environment("HOME", path("home"))
                          .environment("PATH", path("home/bin") + ":/usr/bin:/bin")
                          .run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, kPing);
  EXPECT_THAT(ended.err, Not(HasSubstr("canary")));
}

TEST_F(McpSource, RunsAManifestOfOurs) {
  std::filesystem::create_directory(path("ours"));
  (void)file("ours/server.sh", "#!/bin/sh\necho $A $1 >&2\ncat\n", true);
  (void)file("ours/manifest.toml",
             "name = \"x\"\nversion = \"1\"\n[entrypoint]\ncommand = \"./server.sh\"\n"
             "args = [\"one\"]\n[security]\nenv = [\"A=b\"]\n");
  for (const std::string& server : {path("ours"), path("ours/manifest.toml")}) {
    const Ended ended = run({server});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out, kPing);
    EXPECT_EQ(ended.err, "b one\n");
  }
}

TEST_F(McpSource, FindsTheRuntimeOfAManifestToo) {
  std::filesystem::create_directories(path("tools/v1/bin"));
  std::filesystem::create_directories(path("links"));
  (void)file("tools/v1/bin/runtime", "#!/bin/sh\necho ran $1 >&2\ncat\n", true);
  std::filesystem::create_symlink(path("tools/v1/bin/runtime"), path("links/runtime"));
  std::filesystem::create_directory(path("ours"));
  (void)file(
      "ours/manifest.toml",
      "name = \"x\"\nversion = \"1\"\n[entrypoint]\ncommand = \"runtime\"\nargs = [\"one\"]\n");
  const Ended ended = Command({"mcp", "run", "--cache", cache_, "--workdir", path("ours")})
                          .input(kPing)
                          .environment("PATH", path("links") + ":/usr/bin:/bin")
                          .run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, kPing);
  EXPECT_EQ(ended.err, "ran one\n");
}

TEST_F(McpSource, SaysWhatItCannotTell) {
  const std::string client = file("client.json", R"({"mcpServers": {}} // mine)");
  const std::string both = file("both.json", R"({"packages": [], "entrypoint": {}})");
  const std::string none = file("none.json", "{}");
  std::filesystem::create_directory(path("two"));
  (void)file("two/manifest.json", kManifest);
  (void)file("two/server.json", "{}");
  std::filesystem::create_directory(path("empty"));
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{client}, "--config " + client + " --name NAME"},
      {{both}, "could be several things"},
      {{none}, "does not describe a server"},
      {{path("two")}, "name one of"},
      {{path("empty")}, "is no server"},
      {{path("absent.mcpb")}, "No such file"},
      {{path("absent.json")}, "No such file"},
      {{"--set", "a=b", "--", "true"}, "only bundles and server.json"},
      {{"--package", "npm", "true"}, "--package is for a server.json"},
  };
  for (const auto& [arguments, why] : cases) {
    std::vector<std::string> all = {"mcp", "run"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ended ended = cordon(all);
    EXPECT_EQ(ended.status, 125) << why;
    EXPECT_THAT(ended.err, HasSubstr(why));
  }
  // Behind -- it is a program, whatever it is called.
  const std::string program = file("server.json", "#!/bin/sh\nexec cat\n", true);
  EXPECT_EQ(run({"--", program}).out, kPing);
}

TEST_F(McpSource, GrantsWhatSettingsOfTheSandboxRuntimeAllow) {
  const std::string settings =
      file("srt.json", R"({"filesystem": {"allowWrite": [")" + path("data") +
                           R"("], "denyRead": ["~/.ssh"]}})");
  const std::string script = "touch " + path("data") + "/new && echo written >&2; cat";
  const Ended ended = run({"--", "sh", "-c", script}, {"--srt", settings});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(std::filesystem::exists(path("data/new"))) << ended.err;
  const std::string domains =
      file("domains.json", R"({"network": {"allowedDomains": ["github.com"]}})");
  const Ended refused = refuse({"--", "true"}, {"--srt", domains});
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.err, HasSubstr("cannot be told apart"));
  EXPECT_THAT(refuse({"--", "true"}, {"--srt", settings, "--net", "host"}).err,
              HasSubstr("leave one out"));
}

TEST_F(McpSource, GivesNoServerAHomeForABundle) {
  std::filesystem::create_directory(path("home"));
  (void)file("home/manifest.json", kManifest);
  std::vector<std::string> all = {"mcp", "run"};
  for (std::string& word : settings()) all.push_back(word);
  all.push_back(path("home"));
  const Ended ended = Command(all).environment("HOME", path("home")).run();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("move the bundle"));
}

}  // namespace
}  // namespace cordon::cli
