// A run through a pool is the run it would have been without.
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <regex>

#include "pool_fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;

const std::string kBehave = CORDON_TEST_PROGRAMS_DIR "/behave";

constexpr int kWhatever = -1;  // whatever it is without a pool

class PooledRuns : public PoolTest {
 protected:
  void SetUp() override {
    PoolTest::SetUp();
    start();
  }
  // Without what differs from run to run anyway.
  static std::string comparable(const std::string& text) {
    boost::json::value all = parse(text);
    boost::json::object& outcome = all.as_object().at("outcome").as_object();
    for (const char* const figure :
         {"wall_ms", "cpu_user_ms", "cpu_system_ms", "processes_peak", "memory_peak_bytes",
          "memory_anonymous_bytes", "memory_cache_bytes", "id"}) {
      EXPECT_TRUE(outcome.contains(figure)) << figure;
      outcome.erase(figure);
    }
    // How it was launched is the one thing that may be told of a pool.
    for (const char* const launch : {"launch", "launch_note"}) outcome.erase(launch);
    if (outcome.at("limit").is_object()) outcome.at("limit").as_object().erase("observed");
    // A user without groups is told which one could not be made.
    return std::regex_replace(boost::json::serialize(all), std::regex("run-[0-9-]+"), "run");
  }
  void expect_same(const std::vector<std::string>& arguments, int status) {
    std::vector<std::string> json = arguments;
    json.insert(json.begin(), "--json");
    const Ended usual = pooled("off", json).run();
    const Ended here = pooled("only", json).run();
    if (status == kWhatever) status = usual.status;
    EXPECT_EQ(usual.status, status) << usual.err;
    EXPECT_EQ(here.status, status) << here.err;
    EXPECT_EQ(comparable(here.out), comparable(usual.out));

    const Ended usual_text = pooled("off", arguments).run();
    const Ended text = pooled("only", arguments).run();
    EXPECT_EQ(text.status, status);
    EXPECT_EQ(text.out, usual_text.out);
    // Lines about time differ in the time.
    EXPECT_EQ(text.err.substr(0, text.err.find("after")),
              usual_text.err.substr(0, usual_text.err.find("after")));
  }
};

TEST_F(PooledRuns, EndAsTheyWould) {
  expect_same({"--", "true"}, 0);
  expect_same({"--", "sh", "-c", "echo out; echo err >&2; exit 42"}, 42);
  expect_same({"--", "sh", "-c", "kill -SEGV $$"}, 139);
  expect_same({"--timeout", "100ms", "--", "sleep", "30"}, 5);
  expect_same({"--timeout", "1s", "--grace", "100ms", "--", "sh", "-c",
               "trap '' TERM; sleep 1000 & while :; do wait; done"},
              5);
  expect_same({"--cpu-time", "100ms", "--", "sh", "-c", "while :; do :; done"}, 124);
  expect_same({"--", "no-such-program"}, 127);
  expect_same({"--", "/etc/passwd"}, 126);
  expect_same({"--read", "/proc", "--", "true"}, 125);
  expect_same({"--cwd", path("no-such-directory"), "--", "true"}, 125);
}

TEST_F(PooledRuns, LimitsAreTheirs) {
  expect_same(
      {"--read", CORDON_TEST_PROGRAMS_DIR, "--memory", "32M", "--", kBehave, "alloc", "200000000"},
      kWhatever);  // without a control group malloc fails
  const std::string work = path("work");
  expect_same({"--write", work, "--file-size", "4K", "--", "sh", "-c",
               "exec head -c 100000 /dev/zero >big"},
              124);
  expect_same({"--files", "17", "--", "sh", "-c", "ulimit -n"}, 0);
  const Ended output =
      pooled("only", {"--output", "10K", "--", "yes"}).redirect(1, path("y")).run();
  EXPECT_EQ(output.status, 124);
  EXPECT_THAT(output.err, HasSubstr("cordon: output: ended after"));
  EXPECT_LE(std::filesystem::file_size(path("y")), 10240U);
}

TEST_F(PooledRuns, TenantsAreToldApart) {
  expect_same({"--reuse", "one", "--", "sh", "-c", "echo out; exit 3"}, 3);
  const auto launch = [&](const std::string& tenant) {
    const Ended ended = pooled("only", {"--json", "--reuse", tenant, "--", "true"}).run();
    EXPECT_EQ(ended.status, 0) << ended.err;
    return std::string(parse(ended.out).at("outcome").at("launch").as_string());
  };
  if (::geteuid() != 0) GTEST_SKIP() << "root: others have networks that nobody can join";
  EXPECT_TRUE(eventually([&] { return launch("one") == "reused"; }));
  EXPECT_EQ(launch("other"), "cold");
}

TEST_F(PooledRuns, SurroundingsAreTheClients) {
  const std::string work = path("work");
  expect_same({"--", "pwd"}, 0);
  expect_same({"--env", "A=1", "--env", "B=2 3", "--", "sh", "-c", "env | sort"}, 0);
  expect_same({"--", "sh", "-c", "id -u; id -g; umask; ulimit -a"}, 0);
  expect_same({"--net", "loopback", "--", "cat", "/proc/net/dev"}, 0);
  expect_same({"--tmpfs", "/scratch:1M", "--", "ls", "-ld", "/scratch"}, 0);
  expect_same({"--no-unix", "--", "true"}, 0);

  // Of the moment, not of the service's start.
  Command client = pooled("only", {"--env", "FRESH", "--env-pass", "ALSO*", "--", "sh", "-c",
                                   "echo $FRESH $ALSO_THIS $NOT_THIS"});
  client.environment("FRESH", "one").environment("ALSO_THIS", "two").environment("NOT_THIS", "no");
  EXPECT_EQ(client.run().out, "one two\n");
  EXPECT_EQ(Command::program({"sh", "-c",
                              "cd " + work +
                                  " && " CORDON_COMMAND
                                  " run --pool only --write . -- sh -c 'pwd; echo x > made'"})
                .run()
                .out,
            work + "\n");
  EXPECT_EQ(read_file(path("work/made")), "x\n");
  // A relative program and directory, too.
  (void)file("work/hello", "#!/bin/sh\necho hello\n", true);
  EXPECT_EQ(Command::program(
                {"sh", "-c", "cd " + work + " && " CORDON_COMMAND " run --pool only -- ./hello"})
                .run()
                .out,
            "hello\n");
}

TEST_F(PooledRuns, StreamsAreTheClients) {
  const std::string much(1024 * 1024, 'x');
  const Ended copied = pooled("only", {"--", "cat"}).input(much).run();
  EXPECT_EQ(copied.status, 0);
  EXPECT_EQ(copied.out, much);
  const Ended errors = pooled("only", {"--", "sh", "-c", "cat >&2"}).input(much).run();
  EXPECT_EQ(errors.err, much);
  const Ended counted = pooled("only", {"--output", "2M", "--", "cat"}).input(much).run();
  EXPECT_EQ(counted.out, much);
  const Ended json = pooled("only", {"--json", "--", "cat"}).input(much).run();
  EXPECT_EQ(parse(json.out).at("outcome").at("output_bytes").as_int64(), 1024 * 1024);
  EXPECT_EQ(pooled("only", {"--", "sh", "-c", "echo x"}).closed({0, 2}).run().out, "x\n");
  // Who reads what the program writes sees its end.
  Running pipe = pooled("only", {"--", "sh", "-c", "echo a; exec >&-; sleep 1000"}).start();
  ASSERT_TRUE(pipe.reads("a"));
  pipe.signal(SIGTERM);
  EXPECT_EQ(pipe.wait().status, 124);
}

TEST_F(PooledRuns, SignalsAreForwarded) {
  Running caught = pooled("only", {"--", "sh", "-c",
                                   "trap 'echo caught; exit 3' INT; echo ready; while :; do "
                                   "sleep 0.05; done"})
                       .start();
  ASSERT_TRUE(caught.reads("ready"));
  caught.signal(SIGINT);
  const Ended ended = caught.wait();
  EXPECT_EQ(ended.status, 3) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("caught"));

  Running stubborn = pooled("only", {"--grace", "100ms", "--", "sh", "-c",
                                     "trap '' TERM; echo ready; while :; do sleep 0.05; done"})
                         .start();
  ASSERT_TRUE(stubborn.reads("ready"));
  stubborn.signal(SIGTERM);
  EXPECT_EQ(stubborn.wait().status, 124);
}

TEST_F(PooledRuns, AreReportedRecordedAndJudgedAsEver) {
  EXPECT_EQ(pooled("only", {"--report", path("report"), "--audit", path("audit"), "--", "sh", "-c",
                            "exit 4"})
                .run()
                .status,
            4);
  EXPECT_THAT(read_file(path("report")), HasSubstr(R"("exit_code":4)"));
  const std::string log = cordon({"audit", "show", path("audit"), "--json"}).out;
  EXPECT_THAT(log, HasSubstr(R"("operation":"start")"));
  EXPECT_THAT(log, HasSubstr(R"("operation":"exit")"));
  EXPECT_THAT(log, HasSubstr(R"("operation":"cleanup")"));

  const std::string policy = file("policy.toml", "allowed_programs = [\"/usr/bin/true\"]\n");
  const std::int64_t before = number("served");
  const Ended refused = pooled("only", {"--policy", policy, "--", "/usr/bin/id"}).run();
  EXPECT_EQ(refused.status, 126) << refused.err;
  EXPECT_EQ(number("served"), before);
  // What the policy has checked is what the pool runs: its descriptor goes there.
  const Ended allowed = pooled("only", {"--policy", policy, "--", "/usr/bin/true"}).run();
  EXPECT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_EQ(number("served"), before + 1);
}

}  // namespace
}  // namespace cordon::cli
