// The service of a pool, as a user starts, asks and stops it, and what becomes of its runs.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "pool_fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Pool : public PoolTest {};

bool is_alive(int pid) { return ::kill(pid, 0) == 0; }

TEST_F(Pool, StartsAnswersAndStops) {
  const Ended none = cordon({"pool", "status"});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.err, "cordon: no pool runs: start one by 'cordon pool start'\n");
  EXPECT_EQ(cordon({"pool", "stop"}).status, 1);

  const Ended started = cordon({"pool", "start", "--size", "3"});
  EXPECT_EQ(started.status, 0);
  EXPECT_THAT(started.out, StartsWith("the pool runs (pid "));
  EXPECT_EQ(started.err, "");
  EXPECT_EQ(number("size"), 3);
  EXPECT_EQ(number("running"), 0);
  EXPECT_EQ(pooled("only", {"--", "true"}).run().status, 0);
  EXPECT_EQ(number("served"), 1);
  EXPECT_THAT(cordon({"pool", "status"}).out, HasSubstr("served   1\n"));

  const Ended stopped = cordon({"pool", "stop"});
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_EQ(cordon({"pool", "status"}).status, 1);
  EXPECT_FALSE(std::filesystem::exists(socket()));
  // The fixture checks that its process is gone.
}

TEST_F(Pool, TwoStartsGiveOneService) {
  Running first = Command({"pool", "start"}).start();
  Running second = Command({"pool", "start"}).start();
  const Ended a = first.wait();
  const Ended b = second.wait();
  EXPECT_EQ(a.status, 0) << a.err;
  EXPECT_EQ(b.status, 0) << b.err;
  const std::string pid = "(pid " + std::to_string(number("pid")) + ")";
  EXPECT_THAT(a.out, HasSubstr(pid));
  EXPECT_THAT(b.out, HasSubstr(pid));
  EXPECT_NE(a.out.starts_with("a pool runs already"), b.out.starts_with("a pool runs already"));
}

TEST_F(Pool, InTheForegroundItStaysUntilItIsTold) {
  Running service = Command({"pool", "start", "--foreground"}).start();
  ASSERT_TRUE(service.reads("the pool runs"));
  EXPECT_EQ(pooled("only", {"--", "true"}).run().status, 0);
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().status, 0);
  EXPECT_EQ(cordon({"pool", "status"}).status, 1);
}

TEST_F(Pool, EndsByItselfWhenNobodyComes) {
  Running service = Command({"pool", "start", "--foreground", "--idle", "200ms"}).start();
  ASSERT_TRUE(service.reads("the pool runs"));
  // Not while something runs.
  EXPECT_EQ(pooled("only", {"--", "sleep", "0.5"}).run().status, 0);
  EXPECT_EQ(service.wait().status, 0);
}

TEST_F(Pool, ErrorsOfTheStartReachTheUser) {
  const std::string runtime = path("runtime");
  std::filesystem::create_directory(runtime + "/cordon");
  std::filesystem::permissions(runtime + "/cordon", std::filesystem::perms::all);
  const Ended open = cordon({"pool", "start"});
  EXPECT_EQ(open.status, 125);
  EXPECT_THAT(open.err, HasSubstr("is not yours alone"));
  std::filesystem::permissions(runtime + "/cordon", std::filesystem::perms::owner_all);
  std::filesystem::remove(runtime + "/cordon");
  std::filesystem::create_symlink(path("work"), runtime + "/cordon");
  EXPECT_EQ(cordon({"pool", "start"}).status, 125);
  std::filesystem::remove(runtime + "/cordon");

  if (::geteuid() != 0) {
    const Ended nowhere = Command({"pool", "start"}).environment("XDG_RUNTIME_DIR", "").run();
    EXPECT_EQ(nowhere.status, 125);
    EXPECT_THAT(nowhere.err, HasSubstr("XDG_RUNTIME_DIR names none"));
  }
  EXPECT_EQ(cordon({"pool", "start", "--size", "0"}).status, 125);
  EXPECT_EQ(cordon({"pool", "start", "now"}).status, 125);
  EXPECT_THAT(cordon({"pool", "strat"}).err, HasSubstr("did you mean 'start'?"));
}

TEST_F(Pool, WhatADeadServiceLeftIsReplaced) {
  const int pid = start();
  ::kill(pid, SIGKILL);
  ASSERT_TRUE(eventually([&] { return ::waitpid(pid, nullptr, WNOHANG) == pid; }));
  ASSERT_TRUE(std::filesystem::exists(socket()));
  EXPECT_EQ(cordon({"pool", "status"}).status, 1);
  // Without a service a run goes its own way; or not at all.
  EXPECT_EQ(pooled("auto", {"--", "true"}).run().status, 0);
  EXPECT_EQ(pooled("only", {"--", "true"}).run().status, 125);
  EXPECT_NE(start(), pid);
  EXPECT_EQ(pooled("only", {"--", "true"}).run().status, 0);
}

// It connects before it does anything else, and the service does not wait for it for long.
TEST_F(Pool, IsUsedByACommandThatWasHeldUpAfterItHadConnected) {
  start();
  ASSERT_EQ(::mkdir(path("audit").c_str(), 0700), 0);
  const std::string file = path("audit/lock");
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  Running run = pooled("only", {"--audit", path("audit"), "--", "true"}).start();
  EXPECT_TRUE(eventually([&] { return number("refused") == 1; }));
  ::close(lock);
  const Ended ended = run.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(number("served"), 1);
}

TEST_F(Pool, IsUsedWhenThereIsOneUnlessToldOtherwise) {
  start();
  EXPECT_EQ(pooled("auto", {"--", "true"}).run().status, 0);
  EXPECT_EQ(number("served"), 1);
  EXPECT_EQ(pooled("off", {"--", "true"}).run().status, 0);
  EXPECT_EQ(number("served"), 1);
  EXPECT_EQ(Command({"run", "--cwd", path("work"), "--", "true"}).run().status, 0);
  EXPECT_EQ(number("served"), 2);
  EXPECT_EQ(Command({"run", "--cwd", path("work"), "--", "true"})
                .environment("CORDON_POOL", "off")
                .run()
                .status,
            0);
  EXPECT_EQ(number("served"), 2);
  EXPECT_EQ(pooled("only", {"--", "true"}).environment("CORDON_POOL", "off").run().status, 0);
  EXPECT_EQ(number("served"), 3);
  const Ended wrong = cordon({"run", "--pool", "maybe", "--", "true"});
  EXPECT_EQ(wrong.status, 125);
  EXPECT_THAT(wrong.err, HasSubstr("auto, off and only"));
}

TEST_F(Pool, WhatItCannotRunTakesTheUsualWay) {
  start();
  const std::string secret = file("key", "sesame");
  const std::vector<std::vector<std::string>> cases = {
      {"--secret", "KEY=file:" + secret, "--", "true"}, {"--explain", "--", "true"},
      {"--require", "timeout", "--", "true"},           {"--backend", "posix", "--", "true"},
      {"--", "true", std::string(600 * 1024 / 8, 'x')},
  };
  for (const auto& arguments : cases) {
    const Ended usual = pooled("auto", arguments).run();
    EXPECT_EQ(usual.status, 0) << arguments[0] << usual.err;
  }
  EXPECT_EQ(number("served"), 1);  // the last one is not too large
  for (std::size_t i = 0; i + 1 < cases.size(); ++i) {
    const Ended only = pooled("only", cases[i]).run();
    EXPECT_EQ(only.status, 125) << cases[i][0];
    EXPECT_THAT(only.err, HasSubstr("--pool only: "));
  }
}

TEST_F(Pool, ARunEndsWithTheServiceAndThatIsSaid) {
  const int pid = start();
  Running run = pooled("only", {"--", "sh", "-c",
                                "trap 'echo caught' INT; sleep 1000 & echo ready; while :; do "
                                "sleep 0.05; done"})
                    .start();
  ASSERT_TRUE(run.reads("ready"));
  run.signal(SIGINT);  // forwarded once the client knows that the program runs
  ASSERT_TRUE(run.reads("caught"));
  ::kill(pid, SIGKILL);
  const Ended ended = run.wait();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("the pool went away while the program ran"));
  // The fixture checks that nothing of it is left.
}

TEST_F(Pool, ARunEndsWithItsClient) {
  start();
  Running run = pooled("only", {"--", "sh", "-c", "sleep 1000 & echo ready; sleep 1000"}).start();
  ASSERT_TRUE(run.reads("ready"));
  EXPECT_EQ(number("running"), 1);
  run.signal(SIGKILL);
  EXPECT_EQ(run.wait().status, -SIGKILL);
  EXPECT_TRUE(eventually([&] { return number("running") == 0; }));
}

TEST_F(Pool, StopGivesWhatRunsItsGraceAndThenEndsIt) {
  start();
  Running quick = pooled("only", {"--", "sh", "-c", "echo ready; sleep 0.3; exit 7"}).start();
  ASSERT_TRUE(quick.reads("ready"));
  EXPECT_EQ(cordon({"pool", "stop"}).status, 0);
  EXPECT_EQ(quick.wait().status, 7);

  const int pid = start();
  Running slow = pooled("only", {"--", "sh", "-c", "echo ready; sleep 1000"}).start();
  ASSERT_TRUE(slow.reads("ready"));
  EXPECT_EQ(cordon({"pool", "stop", "--grace", "100ms"}).status, 0);
  const Ended ended = slow.wait();
  EXPECT_EQ(ended.status, 124) << ended.err;
  EXPECT_TRUE(eventually([&] { return ::waitpid(pid, nullptr, WNOHANG) != 0 || !is_alive(pid); }));
}

TEST_F(Pool, ASecondSignalEndsItAtOnce) {
  Running service = Command({"pool", "start", "--foreground"}).start();
  ASSERT_TRUE(service.reads("the pool runs"));
  Running run = pooled("only", {"--", "sh", "-c", "echo ready; sleep 1000"}).start();
  ASSERT_TRUE(run.reads("ready"));
  service.signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return !std::filesystem::exists(socket()); }));
  service.signal(SIGTERM);
  const Ended ended = service.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_LT(ended.wall, std::chrono::seconds(9));
  EXPECT_EQ(run.wait().status, 124);
}

TEST_F(Pool, FiftyRunsAtOnceHaveFourPlaces) {
  start({"--size", "4"});
  const std::string work = path("work");
  std::vector<Running> runs;
  runs.reserve(50);
  for (int i = 0; i < 50; ++i) {
    runs.push_back(pooled("only", {"--", "sh", "-c",
                                   "echo " + std::to_string(i) + "; exit " + std::to_string(i)})
                       .start());
  }
  for (int i = 0; i < 50; ++i) {
    const Ended ended = runs[static_cast<std::size_t>(i)].wait();
    EXPECT_EQ(ended.status, i) << ended.err;
    EXPECT_EQ(ended.out, std::to_string(i) + "\n");
  }
  EXPECT_EQ(number("served"), 50);
  EXPECT_EQ(number("running"), 0);
  EXPECT_EQ(number("waiting"), 0);
}

TEST_F(Pool, ABusyOneSendsRunsTheUsualWay) {
  start({"--size", "1"});
  Running first =
      pooled("only", {"--", "sh", "-c", "echo ready; read line"}).keep_input_open().start();
  ASSERT_TRUE(first.reads("ready"));
  EXPECT_EQ(pooled("auto", {"--", "sh", "-c", "exit 9"}).run().status, 9);
  EXPECT_EQ(number("refused"), 1);

  // Who waits is not deaf.
  Running waits = pooled("only", {"--", "true"}).start();
  ASSERT_TRUE(eventually([&] { return number("waiting") == 1; }));
  waits.signal(SIGINT);
  const Ended interrupted = waits.wait();
  EXPECT_EQ(interrupted.status, 125);
  EXPECT_THAT(interrupted.err, HasSubstr("interrupted while the pool was busy"));
  EXPECT_TRUE(eventually([&] { return number("waiting") == 0; }));
  first.types_all("\n");
  EXPECT_EQ(first.wait().status, 0);
}

}  // namespace
}  // namespace cordon::cli
