// Attaching to programs of a sandbox, letting go of them, and coming back.
#include <csignal>
#include <fstream>

#include "sandbox_fixture.h"
#include "terminal_pair.h"

namespace cordon::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class Attached : public SandboxTest {};

TEST_F(Attached, InputGoesToTheMainProgramAndOutputIsReplayed) {
  create("echo begin; while read line; do echo \"got $line\"; done");
  auto first = command({"connect", "box"}).keep_input_open().start();
  ASSERT_TRUE(first.reads("begin\n"));
  first.types("one\n");
  ASSERT_TRUE(first.reads("got one\n"));
  first.signal(SIGTERM);
  const Ended detached = first.wait();
  EXPECT_EQ(detached.status, 0);
  EXPECT_THAT(detached.err, HasSubstr("detached"));
  auto second = command({"connect", "box"}).keep_input_open().start();
  ASSERT_TRUE(second.reads("begin\ngot one\n"));
  second.types("two\n");
  ASSERT_TRUE(second.reads("got two\n"));
  // The end of input is not the program's.
  second.types_all("three\n");
  ASSERT_TRUE(second.reads("got three\n"));
  EXPECT_EQ(exec("true").status, 0);
  second.signal(SIGINT);
  EXPECT_EQ(second.wait().status, 0);
  EXPECT_EQ(state(), "running");
}

TEST_F(Attached, ADetachedProgramIsFoundAgain) {
  create("sleep 1000");
  const Ended started = sandbox({"exec", "--detach", "box", "--", "sh", "-c",
                                 "echo early; while ! [ -e /tmp/go ]; do sleep 0.01; done; "
                                 "echo late; exit 4"});
  EXPECT_EQ(started.status, 0) << started.err;
  EXPECT_EQ(started.out, "1\n");
  auto connected = command({"connect", "box", "1"}).start();
  ASSERT_TRUE(connected.reads("early\n"));
  EXPECT_EQ(exec(": > /tmp/go").status, 0);
  const Ended ended = connected.wait();
  EXPECT_EQ(ended.status, 4);
  EXPECT_EQ(ended.out, "early\nlate\n");
  EXPECT_EQ(sandbox({"connect", "box", "1"}).out, "early\nlate\n") << "also after its end";
}

TEST_F(Attached, TheEndOfADetachedProgramIsInTheAuditLogOfTheSandbox) {
  const std::string log = path("log");
  create("sleep 1000", {"--audit", log});
  const auto sandbox_records = [&] {
    std::vector<std::string> details;
    std::ifstream file(log + "/audit-00000001.jsonl");
    for (std::string line; std::getline(file, line);) {
      const auto record = parse(line);
      if (record.at("operation").as_string() != "sandbox") continue;
      details.emplace_back(record.at("detail").as_string());
    }
    return details;
  };
  ASSERT_EQ(sandbox({"exec", "--detach", "--audit", log, "box", "--", "sh", "-c",
                     "while ! [ -e /tmp/go ]; do sleep 0.01; done; exit 3"})
                .status,
            0);
  EXPECT_EQ(sandbox({"exec", "--audit", log, "box", "--", "sh", "-c", ": > /tmp/go"}).status, 0);
  EXPECT_TRUE(eventually([&] { return sandbox_records().size() == 4; }));
  EXPECT_THAT(sandbox_records(),
              ElementsAre("create box", "exec box", "exec box",
                          testing::MatchesRegex("ended box 1: exited 3, run [0-9a-f]{32}")))
      << "and not of the one that was waited for";
  EXPECT_EQ(cordon({"audit", "verify", log}).status, 0);
}

TEST_F(Attached, TheEndOfTheCommandIsNotTheProgramsEnd) {
  create("sleep 1000");
  auto killed = command({"exec", "box", "--", "sh", "-c",
                         "echo ready; while ! [ -e /tmp/go ]; do sleep 0.01; done; echo done"})
                    .start();
  ASSERT_TRUE(killed.reads("ready\n"));
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.wait().status, -SIGKILL);
  ASSERT_TRUE(eventually([&] { return processes()[1].at("attached").as_int64() == 0; }));
  EXPECT_TRUE(processes()[1].at("running").as_bool());
  EXPECT_EQ(exec(": > /tmp/go").status, 0);
  EXPECT_THAT(sandbox({"connect", "box", "1"}).out, EndsWith("done\n"));
}

TEST_F(Attached, SignalsReachWhatWasExecuted) {
  create("sleep 1000");
  auto running =
      command({"exec", "box", "--", "sh", "-c",
               "trap 'echo caught; exit 6' INT; echo ready; while :; do sleep 0.01; done"})
          .start();
  ASSERT_TRUE(running.reads("ready\n"));
  running.signal(SIGINT);
  EXPECT_EQ(running.wait().status, 6);
  auto cancelled = command({"exec", "--grace", "50ms", "box", "--", "sh", "-c",
                            "trap '' TERM; echo ready; while :; do sleep 0.01; done"})
                       .start();
  ASSERT_TRUE(cancelled.reads("ready\n"));
  cancelled.signal(SIGTERM);
  EXPECT_EQ(cancelled.wait().status, 124);
  EXPECT_EQ(state(), "running");
}

TEST_F(Attached, NothingIsLostOnTheWayToASlowReader) {
  create("sleep 1000");
  // More than is kept, and more than any pipe on the way holds.
  auto slow =
      command({"exec", "box", "--", "sh", "-c", "head -c 6000000 /dev/zero | tr '\\0' x; echo end"})
          .start();
  ASSERT_TRUE(eventually([&] {
    const auto all = processes();
    return all.size() == 2 && all[1].at("output_bytes").as_int64() > 1'000'000;
  }));
  const Ended ended = slow.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out.size(), 6'000'004U);
}

TEST_F(Attached, OutputThatNobodyReadsIsKeptUpToALimitAndCounted) {
  create("sleep 1000");
  ASSERT_EQ(sandbox({"exec", "--detach", "box", "--", "sh", "-c",
                     "head -c 3000000 /dev/zero | tr '\\0' x; echo end"})
                .status,
            0);
  ASSERT_TRUE(eventually([&] { return !processes()[1].at("running").as_bool(); }));
  const auto process = processes()[1];
  EXPECT_EQ(process.at("output_bytes").as_int64(), 3'000'004);
  const std::int64_t dropped = process.at("output_dropped").as_int64();
  EXPECT_GT(dropped, 1'000'000);
  const Ended replayed = sandbox({"connect", "box", "1"});
  EXPECT_THAT(replayed.out, EndsWith("end\n"));
  EXPECT_EQ(static_cast<std::int64_t>(replayed.out.size()) + dropped, 3'000'004);
  EXPECT_THAT(replayed.err, HasSubstr(std::to_string(dropped) + " bytes"));
}

TEST_F(Attached, LogsFollow) {
  create("echo one; while read line; do echo \"$line\"; done; echo bye");
  auto following = command({"logs", "--follow", "box"}).start();
  ASSERT_TRUE(following.reads("one\n"));
  EXPECT_EQ(sandbox({"stop", "box"}).status, 0);
  EXPECT_EQ(following.wait().status, 0);
}

TEST_F(Attached, KeysDetachFromATerminal) {
  create("sleep 1000");
  TerminalPair terminal(40, 100);
  auto running = command({"exec", "box", "--", "sh", "-c",
                          "stty size; echo ready; read line; echo \"got $line\"; read line"})
                     .start_on(terminal.path(), terminal.take_user_end());
  ASSERT_TRUE(running.reads("40 100\r\n"));
  ASSERT_TRUE(running.reads("ready"));
  running.types("one\r");
  ASSERT_TRUE(running.reads("got one"));
  running.types("\x10\x11");
  ASSERT_TRUE(running.reads("detached"));
  EXPECT_EQ(running.wait().status, 0);
  ASSERT_TRUE(processes()[1].at("running").as_bool());

  TerminalPair again(50, 90);
  auto back = command({"connect", "box", "1"}).start_on(again.path(), again.take_user_end());
  ASSERT_TRUE(back.reads("got one"));
  back.types("two\r");
  EXPECT_EQ(back.wait().status, 0);
}

}  // namespace
}  // namespace cordon::cli
