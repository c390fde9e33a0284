// cordon batch: many requests, as a user types them.
#include "batch_fixture.h"

namespace cordon::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Batch : public BatchTest {};

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

TEST_F(Batch, ResultsAreOutOfReachOfThePrograms) {
  // By the options: known at once. By a request of its own: that one is refused.
  const Ended all =
      batch({"--results", path("shared/out"), file("in", shell("touch $D/ran"))}).run();
  EXPECT_EQ(all.status, 125);
  EXPECT_THAT(all.err, HasSubstr("could change the results in"));
  EXPECT_FALSE(std::filesystem::exists(path("shared/out")));

  std::filesystem::create_directory(directory() / "mine");
  const std::string requests =
      file("in2", R"({"argv":["true"],"write":")" + path("mine") + "\"}\n" + shell("echo good"));
  const Ended one = batch({"--results", path("mine/out"), requests}).run();
  EXPECT_EQ(one.status, 1);
  const std::string results = read_file(path("mine/out"));
  EXPECT_THAT(each(results, "/outcome/verdict"), ElementsAre("failed_to_start", "exited"));
  EXPECT_FALSE(std::filesystem::exists(path("shared/ran")));
}

TEST_F(Batch, AProgramCannotSlipInARequest) {
  // It may write to the file that it came from, before the end of that is read.
  const std::string requests = path("shared/in");
  std::ofstream(requests) << shell("echo '{\"argv\":[\"touch\",\"'$D'/slipped\"]}' >>$D/in")
                          << std::string(100'000, '\n') << shell("echo last");
  const Ended ended = batch({"--jobs", "1", requests}).run();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("in was changed while it was in use"));
  EXPECT_THAT(read_file(requests), HasSubstr("slipped\"]}\n"));  // so it did try
  EXPECT_EQ(lines_in(ended.out), 1U);
  EXPECT_FALSE(std::filesystem::exists(path("shared/slipped")));
}

TEST_F(Batch, ExplainsWhatEachProgramWasRefused) {
  const std::string hidden = file("hidden", "");
  const std::string requests =
      file("in", shell("cat " + hidden + " 2>/dev/null; true") + shell("true"));
  const Ended ended = batch({"--explain", "--audit", path("log"), requests}).run();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(each(ended.out, "/outcome/denials/0/what").at(0), hidden);
  EXPECT_EQ(each(ended.out, "/outcome/denials").at(1), "[]");
}

TEST_F(Batch, RunsWithoutASandboxToo) {
  const std::string requests = file("in", R"({"argv":["cat"],"stdin":"a"}
{"argv":["sleep","60"],"timeout":"50ms"}
)");
  const Ended ended = Command({"batch", "--backend", "posix", requests}).run();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(each(ended.out, "/stdout"), ElementsAre("a", ""));
  EXPECT_THAT(each(ended.out, "/outcome/verdict"), ElementsAre("exited", "timeout"));
}

}  // namespace
}  // namespace cordon::cli
