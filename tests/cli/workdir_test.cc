// --workdir: a directory of the run's own, and what becomes of it however the run ends.
#include <sys/stat.h>

#include <algorithm>
#include <csignal>

#include "fixture.h"
#include "support/count_from.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class WorkDirectory : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    std::filesystem::create_directory(path("here"));
  }
  // "cordon run --workdir" with a cache of the test's own, these options, and sh -c `script`.
  [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> options,
                                                   const std::string& script) const {
    options.insert(options.begin(), {"run", "--workdir", "--cache", path("cache")});
    options.insert(options.end(), {"--", "sh", "-c", script});
    return options;
  }
  [[nodiscard]] Ended run(const std::vector<std::string>& options,
                          const std::string& script) const {
    return cordon(arguments(options, script));
  }
  // Work directories that are there now.
  [[nodiscard]] std::vector<std::string> left() const {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path("cache/work"), error)) {
      names.push_back(entry.path().string());
    }
    return names;
  }
};

TEST_F(WorkDirectory, IsWhereTheProgramRunsAndIsGoneAfterwards) {
  for (const char* const backend : {"linux", "posix"}) {
    const Ended ended =
        run({"--backend", backend}, "pwd; echo $TMPDIR; ls; touch mine tmp/yours && mktemp; umask");
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, StartsWith(path("cache/work/sh-0-")));
    const std::string work = ended.out.substr(0, ended.out.find('\n'));
    EXPECT_THAT(ended.out, StartsWith(work + "\n" + work + "/tmp\nlog\ntmp\n" + work + "/tmp/"));
    EXPECT_EQ(ended.err, "");
    EXPECT_TRUE(left().empty());
  }
}

TEST_F(WorkDirectory, IsThereForBothKindsOfUser) {
  if (::geteuid() != 0) CORDON_SKIP("root", "only root can choose another user");
  const Ended ended = run({"--user", "12345"}, "id -u; touch mine tmp/mine log/mine");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "12345\n");
  EXPECT_TRUE(left().empty());
}

TEST_F(WorkDirectory, IsKeptIfAskedFor) {
  const Ended ended = run({"--keep"}, "echo text >result; pwd");
  ASSERT_EQ(ended.status, 0) << ended.err;
  const std::string work = ended.out.substr(0, ended.out.size() - 1);
  EXPECT_EQ(ended.err, "cordon: kept the work directory " + work + "\n");
  EXPECT_EQ(read_file(work + "/result"), "text\n");
  struct stat result{};
  ASSERT_EQ(::stat((work + "/result").c_str(), &result), 0);
  EXPECT_EQ(result.st_uid, ::geteuid()) << "files come out as the caller's";

  EXPECT_EQ(run({}, "true").status, 0);
  EXPECT_THAT(left(), testing::ElementsAre(work)) << "nobody sweeps it";
}

TEST_F(WorkDirectory, GivesOutWhatIsCollected) {
  const Ended ended =
      run({"--collect", "out/**", "--collect", "*.log", "--into", path("results")},
          "mkdir -p out/deep; echo A >out/a; echo B >out/deep/b; echo C >c.log; echo D >d");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(read_file(path("results/out/a")), "A\n");
  EXPECT_EQ(read_file(path("results/out/deep/b")), "B\n");
  EXPECT_EQ(read_file(path("results/c.log")), "C\n");
  EXPECT_FALSE(std::filesystem::exists(path("results/d")));
  EXPECT_TRUE(left().empty());
}

TEST_F(WorkDirectory, IsCollectedFromHoweverTheRunEnds) {
  const Ended ended = run({"--timeout", "1s", "--collect", "part", "--into", path("results")},
                          "echo so far >part; exec sleep 1000");
  EXPECT_EQ(ended.status, 5) << ended.err;
  EXPECT_EQ(read_file(path("results/part")), "so far\n");
}

TEST_F(WorkDirectory, DoesNotLoseWhatCannotBeCollected) {
  std::filesystem::create_directory(path("results"));
  const std::string precious = file("results/a", "precious");
  const Ended ended = run({"--collect", "a", "--into", path("results")}, "echo new >a");
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("could not collect a: "));
  EXPECT_THAT(ended.err, HasSubstr("kept the work directory"));
  EXPECT_EQ(read_file(precious), "precious");
  ASSERT_EQ(left().size(), 1U);
  EXPECT_EQ(read_file(left()[0] + "/a"), "new\n");
}

TEST_F(WorkDirectory, GivesOutNoLinks) {
  const std::string secret = file("secret", "secret");
  const Ended ended = run({"--collect", "*", "--into", path("results")},
                          "ln -s " + secret + " result; ln -s / tmp/root; mkfifo pipe");
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("not collected: result: it is a symbolic link"));
  EXPECT_THAT(ended.err, HasSubstr("not collected: pipe: it is a pipe"));
  EXPECT_TRUE(std::filesystem::is_empty(path("results")));
  EXPECT_TRUE(left().empty());
}

TEST_F(WorkDirectory, TellsWhatWasNotThere) {
  const Ended ended = run({"--collect", "result", "--into", path("results")}, "exit 3");
  EXPECT_EQ(ended.status, 3) << "that is the program's business";
  EXPECT_EQ(ended.err, "cordon: nothing in the work directory matches --collect result\n");
}

TEST_F(WorkDirectory, IsGoneHoweverTheRunEnds) {
  EXPECT_EQ(run({}, "exit 3").status, 3);
  EXPECT_EQ(run({}, "kill -KILL $$").status, 128 + SIGKILL);
  EXPECT_EQ(run({"--timeout", "100ms"}, "exec sleep 1000").status, 5);
  EXPECT_EQ(cordon({"run", "--workdir", "--cache", path("cache"), "--", "no-such-program"}).status,
            127);
  EXPECT_EQ(run({"--read", "/"}, "true").status, 125) << "failed to start";
  EXPECT_EQ(run({}, "mkdir -p a/b/c && touch a/b/f && chmod 000 a/b/c a/b a . && exit 4").status,
            4);
  EXPECT_TRUE(left().empty());
}

TEST_F(WorkDirectory, IsGoneWhenTheRunIsEndedByTheUser) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    auto running = Command(arguments({"--grace", "100ms"}, "echo ready; exec sleep 1000")).start();
    ASSERT_TRUE(running.reads("ready"));
    EXPECT_EQ(left().size(), 1U);
    running.signal(signal);
    (void)running.wait();
    EXPECT_TRUE(left().empty()) << signal;
  }
}

TEST_F(WorkDirectory, OfAKilledCommandIsRemovedByTheNext) {
  auto running = Command(arguments({}, "mkdir -p a/b; echo ready; exec sleep 1000")).start();
  ASSERT_TRUE(running.reads("ready"));
  EXPECT_EQ(run({}, "true").status, 0);
  EXPECT_EQ(left().size(), 1U) << "it is in use";
  running.signal(SIGKILL);
  (void)running.wait();
  EXPECT_EQ(left().size(), 1U);
  EXPECT_EQ(run({}, "true").status, 0);
  EXPECT_TRUE(left().empty());
}

TEST_F(WorkDirectory, ManyRunsLeaveNone) {
  const int runs = support::count_from("CORDON_SOAK_WORKDIR_RUNS", 20);
  const std::vector<std::string> scripts = {"exit 0", "touch a tmp/b; exit 1", "kill -SEGV $$",
                                            "mkdir -p r/o; touch r/o/f; chmod -R 0 r; true"};
  for (int i = 0; i < runs; ++i) {
    if (i % 10 == 9) {
      auto running = Command(arguments({}, "touch a; echo ready; exec sleep 1000")).start();
      ASSERT_TRUE(running.reads("ready"));
      running.signal(SIGKILL);
      (void)running.wait();
    } else {
      const Ended ended = run({}, scripts[static_cast<std::size_t>(i) % scripts.size()]);
      EXPECT_NE(ended.status, 125) << ended.err;
    }
    ASSERT_LE(left().size(), 1U) << i;
  }
  EXPECT_EQ(run({}, "true").status, 0);
  EXPECT_TRUE(left().empty());
}

TEST_F(WorkDirectory, IsPlannedWithoutBeingMade) {
  for (const char* const backend : {"linux", "posix"}) {
    const Ended ended = cordon({"plan", "--backend", backend, "--workdir", "--cache", path("cache"),
                                "--keep", "--", "true"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(path("cache/work/true-0-NANOS")));
    EXPECT_FALSE(std::filesystem::exists(path("cache")));
  }
}

TEST_F(WorkDirectory, IsNotMadeWhereOthersMayWrite) {
  std::filesystem::create_directory(path("cache"));
  ASSERT_EQ(::chmod(path("cache").c_str(), 0777), 0);
  const Ended ended = run({"--write", path("here")}, "touch " + path("here/ran"));
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr(path("cache") + ": its group or others may write there"));
  EXPECT_FALSE(std::filesystem::exists(path("here/ran")));
}

TEST_F(WorkDirectory, OptionsThatDoNotGoTogetherAreRefused) {
  const auto refusal = [](std::vector<std::string> options) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--", "true"});
    const Ended ended = cordon(options);
    EXPECT_EQ(ended.status, 125);
    return ended.err;
  };
  EXPECT_THAT(refusal({"--keep"}), HasSubstr("--keep needs --workdir"));
  EXPECT_THAT(refusal({"--cache", "/x"}), HasSubstr("--cache needs --workdir"));
  EXPECT_THAT(refusal({"--collect", "x"}), HasSubstr("--collect needs --workdir"));
  EXPECT_THAT(refusal({"--workdir", "--collect", "x"}), HasSubstr("--collect needs --into"));
  EXPECT_THAT(refusal({"--workdir", "--into", "x"}), HasSubstr("--into needs --collect"));
  EXPECT_THAT(refusal({"--workdir", "--collect-limit", "1M"}), HasSubstr("needs --collect"));
  EXPECT_THAT(refusal({"--workdir", "--cwd", "/usr"}), HasSubstr("leave one out"));
  EXPECT_THAT(refusal({"--workdir", "--collect", "../x"}), HasSubstr("\"..\""));
  EXPECT_THAT(refusal({"--workdir", "--collect", "/x"}), HasSubstr("absolute"));
}

}  // namespace
}  // namespace cordon::cli
