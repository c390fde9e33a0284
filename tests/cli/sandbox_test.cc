// Sandboxes that outlive the command, as a user types them.
#include <thread>

#include "sandbox_fixture.h"

namespace cordon::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Sandboxes : public SandboxTest {};

TEST_F(Sandboxes, LiveFromCreateToRemove) {
  create("echo hello; echo oops >&2; cat");
  EXPECT_EQ(state(), "running");
  ASSERT_TRUE(eventually([&] { return sandbox({"logs", "box"}).out == "hello\n"; }));
  const Ended logs = sandbox({"logs", "box"});
  EXPECT_EQ(logs.err, "oops\n");
  const Ended inside = exec("echo here; exit 7");
  EXPECT_EQ(inside.status, 7);
  EXPECT_EQ(inside.out, "here\n");
  const auto all = processes();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].at("main").as_bool());
  EXPECT_TRUE(all[0].at("running").as_bool());
  EXPECT_FALSE(all[1].at("running").as_bool());
  EXPECT_EQ(all[1].at("outcome").at("exit_code").as_int64(), 7);

  const Ended stopped = sandbox({"stop", "box"});
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_EQ(state(), "stopped");
  EXPECT_EQ(sandbox({"logs", "box"}).out, "hello\n");
  EXPECT_EQ(sandbox({"logs", "box", "1"}).out, "here\n");
  EXPECT_EQ(processes().size(), 2U);
  EXPECT_EQ(sandbox({"rm", "box"}).status, 0);
  EXPECT_EQ(state(), "absent");
  EXPECT_EQ(sandbox({"rm", "box"}).status, 0) << "any number of times";
}

TEST_F(Sandboxes, SayTheirNamesOrJson) {
  const Ended created =
      sandbox({"create", "--json", "--cwd", path("work"), "box", "--", "sleep", "1000"});
  ASSERT_EQ(created.status, 0) << created.err;
  const auto record = parse(created.out);
  EXPECT_EQ(record.at("schema").as_string(), "cordon.sandbox/1");
  EXPECT_EQ(record.at("name").as_string(), "box");
  EXPECT_EQ(record.at("state").as_string(), "running");
  EXPECT_EQ(record.at("backend").as_string(), "linux");
  EXPECT_THAT(std::string(record.at("container").as_string()), StartsWith("c"));
  EXPECT_EQ(record.at("command").as_array().size(), 2U);
  EXPECT_THAT(sandbox({"ls"}).out, HasSubstr("sleep 1000"));
  EXPECT_THAT(sandbox({"ps", "box"}).out, HasSubstr("sleep 1000"));
  const Ended ran = sandbox({"exec", "--json", "box", "--", "sh", "-c", "echo out; echo err >&2"});
  const auto outcome = parse(ran.out);
  EXPECT_EQ(outcome.at("stdout").as_string(), "out\n");
  EXPECT_EQ(outcome.at("stderr").as_string(), "err\n");
  EXPECT_EQ(outcome.at("outcome").at("verdict").as_string(), "exited");
  EXPECT_EQ(parse(sandbox({"logs", "--json", "box", "1"}).out).at("stdout").as_string(), "out\n");
  EXPECT_EQ(parse(sandbox({"stop", "--json", "box"}).out).at("state").as_string(), "stopped");
  EXPECT_TRUE(parse(sandbox({"rm", "--json", "box"}).out).at("removed").as_bool());
  EXPECT_FALSE(parse(sandbox({"rm", "--json", "box"}).out).at("removed").as_bool());
}

TEST_F(Sandboxes, EndWithTheirMainProgram) {
  create("read line; exit 3");
  auto inside = command({"exec", "box", "--", "sh", "-c", "echo ready; sleep 1000"}).start();
  ASSERT_TRUE(inside.reads("ready"));
  EXPECT_EQ(command({"connect", "box"}).input("go\n").run().status, 3);
  EXPECT_NE(inside.wait().status, 0) << "killed with the sandbox";
  ASSERT_TRUE(eventually([&] { return state() == "stopped"; }));
  EXPECT_EQ(list().front().at("outcome").at("exit_code").as_int64(), 3);
}

TEST_F(Sandboxes, ExecEndsAsRunDoes) {
  create("sleep 1000");
  EXPECT_EQ(sandbox({"exec", "--timeout", "100ms", "box", "--", "sleep", "100"}).status, 5);
  EXPECT_EQ(sandbox({"exec", "box", "--", "no-such-program"}).status, 127);
  EXPECT_EQ(sandbox({"exec", "box", "--", "/etc"}).status, 126);
  EXPECT_EQ(exec("kill -TERM $$").status, 128 + SIGTERM);
  EXPECT_EQ(
      sandbox({"exec", "--output", "1K", "box", "--", "head", "-c", "100K", "/dev/zero"}).status,
      124);
  const Ended report =
      sandbox({"exec", "--report", path("report"), "box", "--", "sh", "-c", "exit 9"});
  EXPECT_EQ(report.status, 9);
  EXPECT_EQ(parse(read_file(path("report"))).at("exit_code").as_int64(), 9);
}

TEST_F(Sandboxes, GiveExecItsSurroundings) {
  create("sleep 1000");
  EXPECT_EQ(exec("pwd").out, path("work") + "\n");
  EXPECT_EQ(sandbox({"exec", "--cwd", "/usr", "box", "--", "pwd"}).out, "/usr\n");
  EXPECT_EQ(sandbox({"exec", "--env", "A=b", "box", "--", "sh", "-c", "echo $A"}).out, "b\n");
  EXPECT_EQ(command({"exec", "--env", "CALLERS", "box", "--", "sh", "-c", "echo $CALLERS"})
                .environment("CALLERS", "own")
                .run()
                .out,
            "own\n");
  EXPECT_EQ(command({"exec", "box", "--", "cat"}).input("fed").run().out, "fed");
}

TEST_F(Sandboxes, ShareWhatIsInside) {
  create("sleep 1000");
  EXPECT_EQ(exec("echo kept > /tmp/file").status, 0);
  EXPECT_EQ(exec("cat /tmp/file").out, "kept\n");
}

TEST_F(Sandboxes, AreNotCreatedForAProgramThatDoesNotStart) {
  const Ended missing = sandbox({"create", "box", "--", "no-such-program"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_THAT(missing.err, HasSubstr("no-such-program"));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(sandbox({"create", "--cwd", path("work"), "box", "--", "/etc"}).status, 126);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Sandboxes, CanBeStoppedMoreThanOnce) {
  create("trap '' TERM; while :; do sleep 0.01; done");
  const Ended stopped = sandbox({"stop", "--grace", "50ms", "box"});
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_EQ(sandbox({"stop", "box"}).status, 0);
}

TEST_F(Sandboxes, OnLinuxSayThatTheyCannotBeCheckpointed) {
  create("sleep 1000");
  const Ended refused = sandbox({"checkpoint", "box", path("image")});
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.err, HasSubstr("gvisor"));
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(exec("true").status, 0);
  const Ended none = sandbox({"restore", "box", path("image")});
  EXPECT_EQ(none.status, 125);
}

TEST_F(Sandboxes, ListedByName) {
  for (const char* const name : {"b", "a.1", "c_2"}) {
    ASSERT_EQ(sandbox({"create", "--cwd", path("work"), name, "--", "sleep", "1000"}).status, 0);
  }
  EXPECT_THAT(names(), ElementsAre("a.1", "b", "c_2"));
}

TEST_F(Sandboxes, RunAHundredProgramsAtOnce) {
  create("sleep 1000", {"--pids", "1024"});
  constexpr int kAtOnce = 100;
  std::vector<Running> running;
  running.reserve(kAtOnce);
  for (int i = 0; i < kAtOnce; ++i) {
    running.push_back(
        command({"exec", "box", "--", "sh", "-c",
                 "i=0; while [ $i -lt 50 ]; do echo $0-$i; i=$((i+1)); done; exit $(($0 % 7))",
                 std::to_string(i)})
            .start());
  }
  for (int i = 0; i < kAtOnce; ++i) {
    const Ended ended = running[static_cast<std::size_t>(i)].wait();
    EXPECT_EQ(ended.status, i % 7) << ended.err;
    std::string expected;
    for (int line = 0; line < 50; ++line) {
      expected += std::to_string(i) + "-" + std::to_string(line) + "\n";
    }
    EXPECT_EQ(ended.out, expected);
  }
}

}  // namespace
}  // namespace cordon::cli
