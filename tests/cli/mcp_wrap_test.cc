// A client's file, rewritten so that its servers run under Cordon, and back.
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <filesystem>

#include "fixture.h"
#include "terminal_pair.h"

namespace cordon::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPing = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

constexpr const char* kClient = R"({
  // servers of mine
  "mcpServers": {
    "echo": {"command": "sh", "args": ["-c", "echo $LEVEL >&2; cat"], "env": {"LEVEL": "debug"}},
    "bare": {"command": "cat"},
    "far": {"url": "https://example.com/mcp"},
  },
  "theme": "dark"
}
)";

class McpWrap : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    client_ = file("client.json", kClient);
  }

  std::string client_;
};

mode_t mode_of(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777U;
}

TEST_F(McpWrap, MakesServersRunUnderCordonAndBack) {
  const Ended wrapped = cordon({"mcp", "wrap", "--yes", client_});
  EXPECT_EQ(wrapped.status, 0) << wrapped.err;
  EXPECT_THAT(wrapped.out, AllOf(HasSubstr("--- " + client_), HasSubstr("\n-    \"bare\""),
                                 HasSubstr("echo: wrapped\n"), HasSubstr("bare: wrapped\n"),
                                 HasSubstr("far: left alone (reached by a URL"),
                                 HasSubstr("client.json.cordon-backup")));
  const std::string text = read_file(client_);
  EXPECT_THAT(text, AllOf(HasSubstr("// servers of mine"), HasSubstr(CORDON_COMMAND),
                          HasSubstr("\"theme\": \"dark\"")));
  EXPECT_EQ(read_file(client_ + ".cordon-backup"), kClient);
  EXPECT_EQ(mode_of(client_ + ".cordon-backup"), 0600U);

  // What the client would start now.
  const Ended direct = Command({"mcp", "run", "--wrapped", "args", "--env=LEVEL", "--", "sh", "-c",
                                "echo $LEVEL >&2; cat"})
                           .environment("LEVEL", "debug")
                           .input(kPing)
                           .run();
  EXPECT_EQ(direct.out, kPing);
  EXPECT_EQ(direct.err, "debug\n");
  EXPECT_THAT(text, HasSubstr(R"("mcp", "run", "--wrapped", "args", "--env=LEVEL", "--", "sh", )"));

  const Ended unwrapped = cordon({"mcp", "unwrap", "--yes", client_});
  EXPECT_EQ(unwrapped.status, 0) << unwrapped.err;
  EXPECT_EQ(read_file(client_), kClient);
}

TEST_F(McpWrap, IsDoneOnceAndReplacesNoBackup) {
  EXPECT_EQ(cordon({"mcp", "wrap", "--yes", client_}).status, 0);
  const std::string once = read_file(client_);
  const Ended again = cordon({"mcp", "wrap", client_});  // nothing to ask for
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("echo: as it is (runs under Cordon already)"));
  EXPECT_EQ(read_file(client_), once);
  EXPECT_FALSE(std::filesystem::exists(client_ + ".cordon-backup.1"));
  EXPECT_EQ(cordon({"mcp", "unwrap", "--yes", client_}).status, 0);
  EXPECT_EQ(cordon({"mcp", "wrap", "--yes", "--name", "bare", client_}).status, 0);
  EXPECT_EQ(read_file(client_ + ".cordon-backup"), kClient);
  EXPECT_EQ(read_file(client_ + ".cordon-backup.1"), kClient);
}

TEST_F(McpWrap, GivesOneServerItsOptions) {
  const Ended ended = cordon(
      {"mcp", "wrap", "--yes", "--name", "bare", client_, "--read", "/usr", "--net", "host"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(read_file(client_),
              AllOf(HasSubstr(R"("alone", "--read", "/usr", "--net", "host", "--", "cat"])"),
                    HasSubstr(R"("echo": {"command": "sh")")));
}

TEST_F(McpWrap, WritesNothingUnlessAskedTo) {
  const Ended dry = cordon({"mcp", "wrap", "--dry-run", client_});
  EXPECT_EQ(dry.status, 0);
  EXPECT_THAT(dry.out, HasSubstr("\n+    \"bare\""));
  const Ended alone = cordon({"mcp", "wrap", client_});
  EXPECT_EQ(alone.status, 125);
  EXPECT_THAT(alone.err, HasSubstr("--yes"));
  EXPECT_EQ(read_file(client_), kClient);
  EXPECT_FALSE(std::filesystem::exists(client_ + ".cordon-backup"));
}

TEST_F(McpWrap, AsksAtATerminal) {
  for (const auto& [answer, written] : {std::pair{"n\n", false}, {"y\n", true}}) {
    TerminalPair terminal(40, 200);
    Running running =
        Command({"mcp", "wrap", client_}).start_on(terminal.path(), terminal.take_user_end());
    ASSERT_TRUE(running.reads("Write this?"));
    running.types(answer);
    EXPECT_EQ(running.wait().status, 0);
    EXPECT_EQ(read_file(client_) != kClient, written);
  }
}

TEST_F(McpWrap, PrintsAnObjectIfAsked) {
  const Ended ended = cordon({"mcp", "wrap", "--yes", "--json", client_});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto value = parse(ended.out);
  const auto& object = value.as_object();
  EXPECT_TRUE(object.at("written").as_bool());
  EXPECT_EQ(object.at("backup").as_string(), client_ + ".cordon-backup");
  const auto& servers = object.at("servers").as_array();
  ASSERT_EQ(servers.size(), 3U);
  EXPECT_EQ(servers[0].at("change").as_string(), "wrapped");
  EXPECT_EQ(servers[2].at("change").as_string(), "left alone");
}

TEST_F(McpWrap, FollowsALinkAndKeepsTheMode) {
  std::filesystem::create_directory(path("dotfiles"));
  const std::string real = file("dotfiles/client.json", kClient);
  ASSERT_EQ(::chmod(real.c_str(), 0640), 0);
  std::filesystem::create_symlink("dotfiles/client.json", path("linked.json"));
  EXPECT_EQ(cordon({"mcp", "wrap", "--yes", path("linked.json")}).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("linked.json")));
  EXPECT_NE(read_file(real), kClient);
  EXPECT_EQ(mode_of(real), 0640U);
  // Nothing else is left beside it.
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path("dotfiles"))) {
    ++files;
  }
  EXPECT_EQ(files, 2U);
}

TEST_F(McpWrap, DoesNotWriteOverSomebodyElsesChange) {
  TerminalPair terminal(40, 200);
  Running running =
      Command({"mcp", "wrap", client_}).start_on(terminal.path(), terminal.take_user_end());
  ASSERT_TRUE(running.reads("Write this?"));
  std::filesystem::remove(client_);
  (void)file("client.json", R"({"mcpServers": {}})");
  running.types("y\n");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.out, HasSubstr("changed by somebody else"));
  EXPECT_EQ(read_file(client_), R"({"mcpServers": {}})");
  EXPECT_FALSE(std::filesystem::exists(client_ + ".cordon-backup"));
}

TEST_F(McpWrap, RefusesWhatItCannotDo) {
  const std::string odd = file("odd.json", "{");
  std::filesystem::create_hard_link(odd, path("second.json"));
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"wrap"}, "name the client's file"},
      {{"wrap", path("absent")}, "No such file"},
      {{"wrap", directory().string()}, "not a regular file"},
      {{"wrap", odd}, "several names"},
      {{"wrap", file("broken.json", "{")}, "line 1"},
      {{"wrap", "--name", "ech", client_}, "did you mean echo?"},
      {{"wrap", client_, "--yes"}, "those of wrap before it"},
      {{"wrap", client_, "word"}, "no option of run"},
      {{"wrap", client_, "--json"}, "not for servers"},
      {{"wrap", "--json", client_}, "say --yes"},
      {{"unwrap", client_, "--net", "host"}, "its options before it"},
  };
  for (const auto& [arguments, why] : cases) {
    std::vector<std::string> all = {"mcp"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ended ended = cordon(all);
    EXPECT_EQ(ended.status, 125) << why;
    EXPECT_THAT(ended.err, HasSubstr(why));
  }
  EXPECT_EQ(read_file(client_), kClient);
  EXPECT_EQ(cordon({"mcp", "wrap", "--help"}).out, cordon({"mcp", "--help"}).out);
}

}  // namespace
}  // namespace cordon::cli
