// cordon batch: many requests, as a user types them.
#include "batch_fixture.h"
#include "terminal_pair.h"

namespace cordon::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Batch : public BatchTest {
 protected:
  // One value of each result.
  [[nodiscard]] static std::vector<std::string> each(const std::string& text,
                                                     std::string_view pointer) {
    std::vector<std::string> all;
    for (const auto& value : values(text)) {
      boost::system::error_code error;
      const auto* const found = value.find_pointer(pointer, error);
      if (found == nullptr) {
        all.emplace_back("-");
      } else {
        all.push_back(found->is_string() ? std::string(found->as_string())
                                         : boost::json::serialize(*found));
      }
    }
    return all;
  }
};

TEST_F(Batch, RunsSideBySideAndWritesInOrder) {
  // The first one ends only when the second has run.
  const std::string requests =
      file("in", shell(kUntilGo + "echo one") + shell("touch $D/go; echo two"));
  const Ended ended = batch({"--jobs", "2", requests}).run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(each(ended.out, "/line"), ElementsAre("1", "2"));
  EXPECT_THAT(each(ended.out, "/stdout"), ElementsAre("one\n", "two\n"));
  EXPECT_THAT(each(ended.out, "/outcome/verdict"), ElementsAre("exited", "exited"));
}

TEST_F(Batch, FiveHundredRequestsEightAtATime) {
  constexpr int kRequests = 500;
  std::string text;
  for (int i = 1; i <= kRequests; ++i) {
    const std::string n = std::to_string(i);
    text += R"({"id":"r)" + n + R"(","argv":["cat"],"stdin":")" + n + "\"}\n";
  }
  auto running = batch({"--jobs", "8", file("in", text)}).start();
  for (int i = 50; i <= kRequests; i += 50) {  // patience for each part
    ASSERT_TRUE(running.reads(R"({"line":)" + std::to_string(i) + ","));
  }
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, StartsWith("cordon: 500 requests in "));
  EXPECT_THAT(ended.err, HasSubstr(": 500 exited with 0\n"));
  const auto results = values(ended.out);
  ASSERT_EQ(results.size(), kRequests);
  for (std::size_t i = 0; i < kRequests; ++i) {
    EXPECT_EQ(results[i].at("id").as_string(), "r" + std::to_string(i + 1));
    EXPECT_EQ(results[i].at("stdout").as_string(), std::to_string(i + 1));
  }
}

TEST_F(Batch, NeverMoreAtOnceThanJobs) {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    text += shell("mkdir $D/$$." + std::to_string(i) + "; ls $D | wc -l; sleep 0.05; rmdir $D/$$." +
                  std::to_string(i));
  }
  const Ended ended = batch({"--jobs", "3", file("in", text)}).run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const std::string& count : each(ended.out, "/stdout")) EXPECT_LE(std::stoi(count), 3);
}

TEST_F(Batch, EachRequestHasItsOwnLimitsAndEndings) {
  const std::string requests = file("in", R"({"argv":["true"]}
{"argv":["sleep","60"],"timeout":"50ms","id":"slow"}
{"argv":["sh","-c","exit 3"]}
{"argv":["no-such-program"]}
{"argv":["yes"],"output":"1K"}
{"argv":["sh","-c","kill -SEGV $$"]}
)");
  const Ended ended = batch({requests}).run();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(each(ended.out, "/outcome/verdict"),
              ElementsAre("exited", "timeout", "exited", "failed_to_start", "output", "signaled"));
  EXPECT_THAT(each(ended.out, "/outcome/exit_code"),
              ElementsAre("0", "null", "3", "null", "null", "null"));
  EXPECT_EQ(each(ended.out, "/id")[1], "slow");
  EXPECT_EQ(lines_in(ended.err), 1U);
  EXPECT_THAT(ended.err, HasSubstr(": 1 exited with 0, 1 exited otherwise, 1 failed_to_start, "
                                   "1 output, 1 signaled, 1 timeout\n"));
}

TEST_F(Batch, OptionsAreDefaultsOfEveryRequest) {
  const std::string requests = file("in", R"({"argv":["sleep","60"]}
{"argv":["sh","-c","echo $A $B"],"timeout":"20s","env":{"B":"own"}}
{"argv":["pwd"],"cwd":"/usr/bin","timeout":"20s"}
)");
  const Ended ended = batch({"--timeout", "50ms", "--env", "A=all", requests}).run();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(each(ended.out, "/outcome/verdict"), ElementsAre("timeout", "exited", "exited"));
  EXPECT_THAT(each(ended.out, "/stdout"), ElementsAre("", "all own\n", "/usr/bin\n"));
}

TEST_F(Batch, GrantsOfOneRequestAreNotThoseOfAnother) {
  std::filesystem::create_directory(directory() / "private");
  const std::string secret = file("private/file", "for one only");
  const std::string requests =
      file("in", R"({"argv":["cat",")" + secret + R"("],"read":[")" + path("private") + "\"]}\n" +
                     R"({"argv":["cat",")" + secret + "\"]}\n");
  const Ended ended = batch({requests}).run();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(each(ended.out, "/stdout"), ElementsAre("for one only", ""));
  EXPECT_THAT(each(ended.out, "/outcome/exit_code"), ElementsAre("0", "1"));
}

TEST_F(Batch, NoRequestGoesBeyondThePolicy) {
  const std::string policy = file("site.toml", "[limits]\nmemory = \"64M\"\n");
  const std::string requests = file("in", R"({"argv":["true"],"memory":"2G"}
{"argv":["true"],"memory":"32M"}
)");
  const Ended ended = Command({"batch", "--policy", policy, "--cwd", "/usr", requests}).run();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(each(ended.out, "/outcome/verdict"), ElementsAre("denied", "exited"));
  EXPECT_THAT(each(ended.out, "/outcome/error/message")[0], HasSubstr("site.toml:2 allows (64M)"));
}

TEST_F(Batch, WaitsForAPlaceAmongTheRunsThatThePolicyAllows) {
  const std::string policy = file("site.toml", "[limits]\nmax_processes = 1\n");
  std::string text;
  for (int i = 0; i < 6; ++i) text += shell("mkdir $D/lock && sleep 0.02 && rmdir $D/lock");
  // Another command has the only place.
  auto other = Command({"run", "--policy", policy, "--cwd", "/usr", "--write", path("shared"), "--",
                        "sh", "-c", "D=" + path("shared") + "; echo ready; " + kUntilGo})
                   .start();
  ASSERT_TRUE(other.reads("ready"));
  auto running =
      batch({"--policy", policy, "--jobs", "4", file("in", text + shell("echo last"))}).start();
  touch("go");
  EXPECT_EQ(other.wait().status, 0);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(each(ended.out, "/stdout").at(6), "last\n");
}

TEST_F(Batch, APolicyThatLetsNothingRunRefusesInsteadOfWaiting) {
  const std::string policy = file("site.toml", "[limits]\nmax_processes = 0\n");
  const Ended ended = batch({"--policy", policy, file("in", shell("echo ran"))}).run();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(each(ended.out, "/outcome/verdict"), ElementsAre("denied"));
}

TEST_F(Batch, OneBadLineAndNothingRuns) {
  const std::string requests =
      file("in", shell("touch $D/ran") + "{\"argv\":[\"true\"],\"memroy\":1}\n\nno\n");
  const Ended ended = batch({requests}).run();
  EXPECT_EQ(ended.status, 125);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("in:2:18: unknown key \"memroy\": did you mean \"memory\"?\n"));
  EXPECT_THAT(ended.err, HasSubstr("in:4:1: this is not JSON"));
  EXPECT_THAT(ended.err, HasSubstr("nothing was run"));
  EXPECT_FALSE(std::filesystem::exists(path("shared/ran")));
}

TEST_F(Batch, ManyBadLinesAreNotAllTold) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "no\n";
  const Ended ended = batch({file("in", text)}).run();
  EXPECT_EQ(ended.status, 125);
  EXPECT_EQ(lines_in(ended.err), 21U);
  EXPECT_THAT(ended.err, HasSubstr("and 80 more lines"));
}

TEST_F(Batch, KeepGoingMakesBadLinesResults) {
  const std::string requests =
      file("in", "no\n" + shell("echo ran") + R"({"id":"x","argv":["true"],"what":1})");
  const Ended ended = batch({"--keep-going", requests}).run();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(each(ended.out, "/stdout"), ElementsAre("-", "ran\n", "-"));
  EXPECT_THAT(each(ended.out, "/error/stage"), ElementsAre("input", "-", "input"));
  EXPECT_THAT(each(ended.out, "/id"), ElementsAre("null", "null", "x"));
  EXPECT_THAT(each(ended.out, "/error/message")[2], HasSubstr("in:3:27: unknown key \"what\""));
}

TEST_F(Batch, FilesComeAsTheyAre) {
  const std::string text =
      "\xEF\xBB\xBF\r\n{\"argv\":[\"echo\",\"a\"],\"id\":\"same\"}\r\n\n  \n"
      "{\"argv\":[\"echo\",\"b\"],\"id\":\"same\"}";
  const Ended ended = batch({file("in", text)}).run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(each(ended.out, "/line"), ElementsAre("2", "5"));
  EXPECT_THAT(each(ended.out, "/id"), ElementsAre("same", "same"));
  EXPECT_THAT(each(ended.out, "/stdout"), ElementsAre("a\n", "b\n"));
}

TEST_F(Batch, NoRequestsAreNoFailure) {
  for (const char* const nothing : {"", "\n \r\n\n"}) {
    const Ended ended = batch({"-"}).input(nothing).run();
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, StartsWith("cordon: 0 requests in"));
  }
}

TEST_F(Batch, ReadsStdinAndPlacesTellSo) {
  const Ended ended = batch({"-"}).input(shell("echo one") + shell("echo two")).run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(each(ended.out, "/stdout"), ElementsAre("one\n", "two\n"));
  EXPECT_THAT(batch({"-"}).input("no\n").run().err, HasSubstr("<stdin>:1:1: "));
}

TEST_F(Batch, ALineOfMoreThanAMebibyteIsNoRequest) {
  const std::string text =
      R"({"argv":["true"],"stdin":")" + std::string(1UL << 20U, 'x') + "\"}\n" + shell("echo next");
  const Ended ended = batch({"--keep-going", "-"}).input(text).run();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(each(ended.out, "/error/message")[0], HasSubstr("at most 1M"));
  EXPECT_EQ(each(ended.out, "/stdout")[1], "next\n");
}

TEST_F(Batch, OutputIsCutAndSaysSo) {
  const std::string requests = file("in", shell("echo 1234567890; echo abc >&2") +
                                              shell("printf '\\377\\376'") + shell("echo short"));
  const Ended ended = batch({"--capture", "5", requests}).run();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(each(ended.out, "/stdout"), ElementsAre("12345", "-", "short"));
  EXPECT_THAT(each(ended.out, "/stdout_base64"), ElementsAre("-", "//4=", "-"));
  EXPECT_THAT(each(ended.out, "/stderr"), ElementsAre("abc\n", "", ""));
  EXPECT_THAT(each(ended.out, "/outcome/output_truncated"), ElementsAre("true", "false", "true"));
}

TEST_F(Batch, ASlowRequestHoldsBackOnlySoMany) {
  // With two jobs, 72 may wait for the first. The last one would let it go on.
  std::string text = shell(kUntilGo);
  for (int i = 0; i < 150; ++i) text += shell("echo x >> $D/ran");
  text += shell("touch $D/go");
  auto running = batch({"--jobs", "2", file("in", text)}).start();
  const auto ran = [&] { return lines_in(read_file(path("shared/ran"))); };
  ASSERT_TRUE(comes_true([&] { return ran() >= 72; }));
  std::size_t before = 0;
  while (before != ran()) {
    before = ran();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until nothing happens any more
  }
  EXPECT_LE(ran(), 73U);
  EXPECT_FALSE(std::filesystem::exists(path("shared/go")));
  touch("go");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(lines_in(ended.out), 152U);
}

TEST_F(Batch, AReaderThatGoesAwayEndsIt) {
  std::string text = shell("echo first");
  for (int i = 0; i < 20; ++i) text += shell("sleep 0.02");
  text += shell("sleep 1000");
  auto running = batch({"--jobs", "2", file("in", text)}).start();
  ASSERT_TRUE(running.reads("first"));
  running.hang_up();
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("cannot write the results to stdout: Broken pipe"));
}

TEST_F(Batch, AFullDiskEndsIt) {
  const std::string requests = file("in", shell("echo first") + shell("sleep 1000"));
  const Ended to_stdout = batch({requests}).redirect(1, "/dev/full").run();
  EXPECT_EQ(to_stdout.status, 125);
  EXPECT_THAT(to_stdout.err, HasSubstr("No space left on device"));
  const Ended to_file = batch({"--results", "/dev/full", requests}).run();
  EXPECT_EQ(to_file.status, 125);
  EXPECT_THAT(to_file.err, HasSubstr("/dev/full: No space left on device"));
  EXPECT_THAT(to_file.err, testing::Not(HasSubstr("--resume")));
}

TEST_F(Batch, AfterTheDeadlineNothingIsStarted) {
  const Ended none = batch({"--deadline", "0s", file("in", shell("touch $D/ran"))}).run();
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(each(none.out, "/error/code"), ElementsAre("timed_out"));
  EXPECT_THAT(each(none.out, "/error/stage"), ElementsAre("deadline"));
  EXPECT_FALSE(std::filesystem::exists(path("shared/ran")));

  // What was begun in time goes on.
  const std::string requests = file("in2", shell("sleep 2.5; echo done") + shell("echo late"));
  const Ended some = batch({"--deadline", "2s", "--jobs", "1", requests}).run();
  EXPECT_EQ(some.status, 1);
  EXPECT_THAT(each(some.out, "/stdout"), ElementsAre("done\n", "-"));
  EXPECT_THAT(each(some.out, "/error/message")[1], HasSubstr("deadline of the batch (2s)"));
}

TEST_F(Batch, EveryRequestIsOnRecord) {
  const std::string log = path("log");
  const Ended ended = batch({"--audit", log, file("in", shell("echo a") + shell("exit 4"))}).run();
  EXPECT_EQ(ended.status, 1) << ended.err;
  const Ended shown = cordon({"audit", "show", "--operation", "exit", "--json", log});
  EXPECT_EQ(lines_in(shown.out), 2U) << shown.err;
  EXPECT_EQ(cordon({"audit", "verify", log}).status, 0);
}

TEST_F(Batch, WithoutARecordNothingRuns) {
  const Ended ended =
      batch({"--audit", file("log", "no directory"), file("in", shell("touch $D/ran"))}).run();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(each(ended.out, "/outcome/verdict"), ElementsAre("failed_to_start"));
  EXPECT_FALSE(std::filesystem::exists(path("shared/ran")));
}

TEST_F(Batch, WhatIsRequiredAndNotKeptIsNotRun) {
  const std::string requests = file("in", R"({"argv":["true"]})");
  const Ended ended =
      Command({"batch", "--backend", "posix", "--require", "network", requests}).run();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(each(ended.out, "/outcome/verdict"), ElementsAre("failed_to_start"));
  EXPECT_THAT(each(ended.out, "/outcome/error/message")[0], HasSubstr("--require"));
}

TEST_F(Batch, QuietSaysNothingAndProgressSaysMore) {
  const std::string requests = file("in", shell("sleep 1.2"));
  EXPECT_EQ(batch({"--quiet", file("quick", shell("true"))}).run().err, "");
  const Ended more = batch({"--progress", requests}).run();
  EXPECT_THAT(more.err, HasSubstr("[....................] 0/1"));
  EXPECT_EQ(lines_in(more.err), 2U);
}

TEST_F(Batch, ATerminalShowsABarAndThenTheSummary) {
  TerminalPair terminal(40, 100);
  const std::string requests = file("in", shell("true") + shell(kUntilGo));
  auto running = batch({"--jobs", "2", requests})
                     .redirect(1, path("out"))
                     .start_on(terminal.path(), terminal.take_user_end());
  ASSERT_TRUE(running.reads("[##########..........] 1/2"));
  ASSERT_TRUE(running.reads("1 exited with 0"));
  touch("go");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("\r\x1b[Kcordon: 2 requests in "));
  EXPECT_EQ(lines_in(read_file(path("out"))), 2U);
}

}  // namespace
}  // namespace cordon::cli
