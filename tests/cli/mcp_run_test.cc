// An MCP server between its client and the sandbox.
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "fixture.h"

namespace cordon::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPing = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

class McpRun : public CliTest {
 protected:
  // A server that is a shell script.
  static std::vector<std::string> server(const std::string& script,
                                         std::vector<std::string> options = {}) {
    std::vector<std::string> all = {"mcp", "run"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", "sh", "-c", script});
    return all;
  }
};

TEST_F(McpRun, PassesMessagesOnAsTheyCame) {
  const std::string odd =
      "{ \"result\" : {\"a\": 1.50, \"b\":\"\\u00e9\\/\"} , \"id\":\"x\",\t\"jsonrpc\":\"2.0\" }\n";
  const Ended ended = Command(server("cat")).input(kPing + odd).run();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, kPing + odd);
  EXPECT_EQ(ended.err, "");
}

TEST_F(McpRun, KeepsWhatIsNoMessageOffTheWireAndSaysSo) {
  const Ended ended =
      Command(server("echo Server is ready; cat; echo '{\"jsonrpc\":\"2.0\",\"id\":null,"
                     "\"method\":\"x\"}'; printf 'no end'; echo log >&2"))
          .input(kPing)
          .run();
  EXPECT_EQ(ended.out, kPing);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("not a message"), HasSubstr(": Server is ready\n"),
                               HasSubstr("no end"), HasSubstr("log\n"), HasSubstr("\"id\"")));
}

TEST_F(McpRun, DoesNotRepeatNoiseWithoutEnd) {
  const Ended ended = cordon(server("yes noise | head -n 100000"));
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("99900 more lines"));
}

TEST_F(McpRun, LetsALineThatIsTooLongPassNeitherWholeNorInParts) {
  const Ended ended =
      Command(server("head -c 20000000 /dev/zero | tr '\\0' '[' ; echo; cat")).input(kPing).run();
  EXPECT_EQ(ended.out, kPing);
  EXPECT_THAT(ended.err, HasSubstr("longer than a message may be"));
}

TEST_F(McpRun, PassesLargeMessagesWhole) {
  const std::string large = R"({"jsonrpc":"2.0","id":1,"result":{"text":")" +
                            std::string(std::size_t{3} << 20, 'x') + "\"}}\n";
  const std::string all = large + kPing + large;
  const Ended ended = Command(server("cat", {"--report", path("report")})).input(all).run();
  EXPECT_TRUE(ended.out == all) << ended.out.size() << " bytes of " << all.size();
  EXPECT_EQ(ended.err, "");
  const auto report = parse(read_file(path("report")));
  EXPECT_EQ(report.at("output_bytes").as_int64(), static_cast<std::int64_t>(all.size()));
}

TEST_F(McpRun, PassesTheSameWhereOutputIsCounted) {
  const Ended ended = Command(server("echo noise; cat; head -c 20000000 /dev/zero | tr '\\0' '['",
                                     {"--output", "64M"}))
                          .input(kPing)
                          .run();
  EXPECT_EQ(ended.out, kPing);
  EXPECT_THAT(ended.err, AllOf(HasSubstr(": noise\n"), HasSubstr("longer than a message may be")));
}

TEST_F(McpRun, GoesOnWhenTheServerClosesItsStdout) {
  const Ended ended =
      Command(server("head -n 1; exec 1>&-; echo later >&2; exit 3")).input(kPing).run();
  EXPECT_EQ(ended.out, kPing);
  EXPECT_THAT(ended.err, HasSubstr("later\n"));
  EXPECT_EQ(ended.status, 3);
}

TEST_F(McpRun, HasNoMoreTimeThanAPolicyAllows) {
  const std::string site = file("site.toml", "[limits]\ntimeout = \"1h\"\ncpu = 500\n");
  const Ended ended = Command(server("cat", {"--policy", site})).input(kPing).run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, kPing);
  const std::string short_lived = file("short.toml", "[limits]\ntimeout = \"300ms\"\n");
  EXPECT_EQ(
      Command(server("exec sleep 1000", {"--policy", short_lived})).keep_input_open().run().status,
      5);
}

TEST_F(McpRun, EndsAStubbornServerAndAllItStartedWhenTheClientHangsUp) {
  auto running = Command(server("trap '' TERM INT HUP; (setsid sleep 1000 &); echo '" +
                                    std::string(kPing, std::string_view(kPing).size() - 1) +
                                    "'; while :; do sleep 1; done",
                                {"--grace", "50ms"}))
                     .keep_input_open()
                     .start();
  ASSERT_TRUE(running.reads("ping"));
  running.types_all("");
  const Ended ended = running.wait();  // and nothing is left, says the fixture
  EXPECT_EQ(ended.status, 124);
}

TEST_F(McpRun, LetsAServerEndByItselfWhenTheClientHangsUp) {
  const Ended ended =
      Command(server("cat >/dev/null; exit 3", {"--grace", "20s"})).input(kPing).run();
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(ended.err, "");
}

TEST_F(McpRun, EndsTheServerOfAClientThatIsGone) {
  // The client is a shell, and somebody else holds the other end of stdin.
  const std::string script = file(
      "server", "#!/bin/sh\necho '{\"jsonrpc\":\"2.0\",\"method\":\"up\"}'\nexec sleep 1000\n");
  auto running = Command::program({"sh", "-c",
                                   "exec 3<&0; " CORDON_COMMAND " mcp run --grace 50ms --read " +
                                       script + " -- sh " + script + " <&3 3<&- & wait"})
                     .keep_input_open()
                     .start();
  ASSERT_TRUE(running.reads("up"));
  running.signal(SIGKILL);
  EXPECT_EQ(running.wait().status, -SIGKILL);  // and nothing is left, says the fixture
}

TEST_F(McpRun, EndsTheRunWhenNobodyReadsItsMessages) {
  const Ended ended =
      Command::program(
          {"sh", "-c",
           CORDON_COMMAND
           " mcp run --grace 50ms -- sh -c "
           "'while :; do echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\\\"x\\\"}\"; done' | "
           "head -n 1"})
          .run();
  EXPECT_THAT(ended.out, HasSubstr("\"x\""));
}

TEST_F(McpRun, WorksInAPrivateDirectoryWithoutNetworkOrTimeout) {
  const Ended ended = Command(server("pwd >&2; touch here && echo may write >&2; "
                                     "ls /sys/class/net 2>/dev/null >&2; env >&2",
                                     {"--env", "MINE=1"}))
                          .environment("CLIENT_SECRET", "canary")
                          .run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("may write"), HasSubstr("MINE=1"), Not(HasSubstr("eth")),
                               Not(HasSubstr("canary"))));
}

TEST_F(McpRun, TakesAServerFromAClientsFile) {
  const std::string config = file(
      "client.json",
      R"({"mcpServers": {"echo": {"command": "sh", "args": ["-c", "echo $A $0 $1 >&2; cat", "x"],
                                  "env": {"A": "variable"}}}})");
  const Ended ended =
      Command({"mcp", "run", "--config", config, "--name", "echo", "more"}).input(kPing).run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, kPing);
  EXPECT_EQ(ended.err, "variable x more\n");
}

TEST_F(McpRun, RefusesWhatItCannotDo) {
  const std::string config = file("client.json", R"({"servers": {"a": {"command": "true"}}})");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "no program"},
      {{"--json", "--", "true"}, "--json"},
      {{"--redact", "--", "true"}, "--redact"},
      {{"--transport", "http", "--", "true"}, "--transport"},
      {{"--config", config}, "--config needs --name"},
      {{"--name", "a"}, "--name needs --config"},
      {{"--config", config, "--name", "b"}, "it has a"},
      {{"--config", path("absent"), "--name", "b"}, "absent"},
      {{"--config", directory().string(), "--name", "b"}, "not a regular file"},
      {{"--config", config, "--name", "a", "--manifest", "m"}, "leave one out"},
  };
  for (const auto& [arguments, expected] : cases) {
    std::vector<std::string> all = {"mcp", "run"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ended ended = cordon(all);
    EXPECT_EQ(ended.status, 125) << expected;
    EXPECT_THAT(ended.err, HasSubstr(expected));
    EXPECT_EQ(ended.out, "");
  }
  EXPECT_EQ(cordon({"mcp"}).status, 125);
  EXPECT_THAT(cordon({"mcp", "rnu"}).err, HasSubstr("did you mean 'run'?"));
  EXPECT_EQ(cordon({"mcp", "--help"}).out, cordon({"mcp", "run", "--help"}).out);
  EXPECT_EQ(cordon({"mcp", "--help"}).out, cordon({"help", "mcp"}).out);
}

TEST_F(McpRun, WritesALogIfAsked) {
  const std::string log = path("log");
  const Ended ended =
      Command(server("cat; echo said >&2; echo noise", {"--log", log})).input(kPing).run();
  EXPECT_EQ(ended.out, kPing);
  EXPECT_THAT(read_file(log),
              AllOf(HasSubstr("[stdout] {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"),
                    HasSubstr("[stdout] noise\n"), HasSubstr("[stderr] said\n")));
}

}  // namespace
}  // namespace cordon::cli
