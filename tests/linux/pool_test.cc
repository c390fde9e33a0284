// Warm launches: what a request asks for reaches a sandbox that was ready before it.
#include "cordon/pool.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cordon/run.h"
#include "linux/harness.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class WarmLaunch : public testing::Test {
 protected:
  void SetUp() override { CORDON_NEEDS_SANDBOX(false); }

  static std::unique_ptr<Pool> make_pool(const PoolOptions& options = {.size = 4}) {
    auto pool = Pool::make(options);
    if (!pool) ADD_FAILURE() << pool.error().message;
    return pool ? std::move(*pool) : nullptr;
  }
  static Request shell(const std::string& script) {
    return {.program = "/bin/sh", .args = {"-c", script}, .cwd = "/usr", .timeout = 20s};
  }
  // Warm, or it is a failure.
  static Outcome run_warm(Pool& pool, const Request& request) {
    const auto ready = pool.warm(request, 1);
    EXPECT_TRUE(ready) << ready.error().message;
    Outcome outcome = run(pool.manager(), request);
    EXPECT_EQ(outcome.launch, Launch::warm) << to_json(outcome);
    EXPECT_EQ(outcome.launch_note, "");
    return outcome;
  }
};

TEST_F(WarmLaunch, BringsArgumentsVariablesAndStreams) {
  const auto pool = make_pool();
  Request request = shell("read line; echo \"$0 $1 $V $line\"; echo said >&2; exit 7");
  request.args.insert(request.args.end(), {"zero", "one two"});
  request.env = {{"V", "value"}};
  request.in = Input::bytes("from stdin\n");
  const Outcome outcome = run_warm(*pool, request);
  EXPECT_EQ(outcome.out, "zero one two value from stdin\n");
  EXPECT_EQ(outcome.err, "said\n");
  EXPECT_EQ(outcome.exit_code, 7);
}

TEST_F(WarmLaunch, BringsArgumentsOfAnySize) {
  const auto pool = make_pool();
  Request request = shell("echo ${#0} $#");
  request.args.push_back(std::string(100'000, 'x'));
  for (int i = 0; i < 10; ++i) request.args.push_back(std::string(100'000, 'y'));
  EXPECT_EQ(run_warm(*pool, request).out, "100000 10\n");
}

TEST_F(WarmLaunch, BringsTheWorkingDirectory) {
  const auto pool = make_pool();
  ASSERT_TRUE(pool->warm(shell("pwd"), 1));
  Request elsewhere = shell("pwd");
  elsewhere.cwd = "/usr/lib";
  const Outcome outcome = run(pool->manager(), elsewhere);
  EXPECT_EQ(outcome.out, "/usr/lib\n");
  EXPECT_EQ(outcome.launch, Launch::warm) << "the same of the host is visible from there";
}

TEST_F(WarmLaunch, BringsLimits) {
  const auto pool = make_pool();
  ASSERT_TRUE(pool->warm(shell(""), 2));
  Request request = shell("ulimit -n; ulimit -f; ulimit -c");
  request.limits.open_files = 99;
  request.limits.file_size_bytes = 1 << 20;
  EXPECT_EQ(run_warm(*pool, request).out, "99\n2048\n0\n");
  request.args = {"-c", "ulimit -n"};
  request.limits.open_files = 4;  // fewer than the sandbox itself has open
  EXPECT_EQ(run_warm(*pool, request).out, "4\n");
}

TEST_F(WarmLaunch, EndsAtTheLimitsOfItsOwnRequest) {
  const auto pool = make_pool();
  if (pool->manager().capabilities().enforcement.memory.level != Guarantee::Level::enforced) {
    CORDON_SKIP_WITHOUT("cgroup", "no control groups here");
  }
  Request greedy = misbehave({"memory-bomb"});
  greedy.limits.memory_bytes = 32 << 20;
  EXPECT_EQ(run_warm(*pool, greedy).verdict, Verdict::memory);
  Request many = misbehave({"fork-bomb"});
  many.limits.processes = 8;
  many.end_at_process_limit = true;
  const Outcome outcome = run_warm(*pool, many);
  EXPECT_EQ(outcome.verdict, Verdict::processes);
  EXPECT_LE(outcome.usage.processes_peak.value_or(0), 8U);
}

TEST_F(WarmLaunch, CountsOnlyItsOwnRun) {
  const auto pool = make_pool();
  Request busy = shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
  const Outcome before = run_warm(*pool, busy);
  const Outcome after = run_warm(*pool, shell("exit 0"));
  ASSERT_TRUE(before.usage.cpu_user && after.usage.cpu_user);
  EXPECT_LT(*after.usage.cpu_user + *after.usage.cpu_system,
            *before.usage.cpu_user + *before.usage.cpu_system);
  EXPECT_EQ(after.usage.processes_peak.value_or(1), 1U);
}

TEST_F(WarmLaunch, BringsSecretsButNotAsFiles) {
  const auto pool = make_pool();
  const SecretValue hush = SecretValue::copy_of("hush").value();
  Request request = shell("echo $A; cat <&$B_FD");
  request.secrets = {{"A", hush, Secret::Delivery::env}, {"B", hush, Secret::Delivery::fd}};
  EXPECT_EQ(run_warm(*pool, request).out, "hush\nhush");
  request = shell("cat $C_FILE");
  request.secrets = {{"C", hush, Secret::Delivery::file}};
  const Outcome outcome = run(pool->manager(), request);
  EXPECT_EQ(outcome.out, "hush");
  EXPECT_EQ(outcome.launch, Launch::cold);
  EXPECT_THAT(outcome.launch_note, HasSubstr("file"));
  EXPECT_FALSE(pool->warm(request, 1));
}

TEST_F(WarmLaunch, SaysWhatKeptItFromBeingOne) {
  const auto pool = make_pool();
  Request request = shell("exit 0");
  EXPECT_THAT(run(pool->manager(), request).launch_note, HasSubstr("none was ready"));
  request.explain = true;
  EXPECT_THAT(run(pool->manager(), request).launch_note, HasSubstr("explained"));
  EXPECT_EQ(pool->stats().cold, 2U);
}

TEST_F(WarmLaunch, AProgramThatIsNotThereFailsAsItDoesCold) {
  const auto pool = make_pool();
  Request request = shell("");
  request.program = "/usr/absent";
  ASSERT_TRUE(pool->warm(request, 1));
  const Outcome warm = run(pool->manager(), request);
  const auto cold_manager = make_manager();
  const Outcome cold = run(*cold_manager, request);
  ASSERT_TRUE(warm.error && cold.error);
  EXPECT_EQ(warm.error->message, cold.error->message);
  EXPECT_EQ(exit_status(warm), 127);
}

// What was granted and is another directory now: the sandbox shows the new one.
TEST_F(WarmLaunch, ShowsWhatTheHostHasNow) {
  const Folder folder;
  const auto pool = make_pool();
  const std::string granted = folder.path("granted");
  std::filesystem::create_directory(granted);
  std::ofstream(granted + "/which") << "old";
  Request request = shell("cat " + granted + "/which");
  request.grants = {Grant::read(granted)};
  ASSERT_TRUE(pool->warm(request, 2));
  std::filesystem::rename(granted, folder.path("gone"));
  std::filesystem::create_directory(granted);
  std::ofstream(granted + "/which") << "new";
  EXPECT_EQ(run(pool->manager(), request).out, "new");
  EXPECT_EQ(pool->stats().replaced, 2U);
}

TEST_F(WarmLaunch, ShowsWhatWasMountedOnTheHostMeanwhile) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "others cannot mount");
  in_own_process([] {
    ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
    ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    const Folder folder;
    const auto pool = make_pool();
    std::filesystem::create_directory(folder.path("below"));
    Request request = shell("ls " + folder.path("below"));
    request.grants = {Grant::read(folder.path())};
    ASSERT_TRUE(pool->warm(request, 1));
    ASSERT_EQ(::mount("tmpfs", folder.path("below").c_str(), "tmpfs", 0, nullptr), 0);
    std::ofstream(folder.path("below/new")) << "new";
    EXPECT_EQ(run(pool->manager(), request).out, "new\n");
    ::umount2(folder.path("below").c_str(), MNT_DETACH);
  });
}

// Each run has a sandbox of its own: nothing is left for the next.
TEST_F(WarmLaunch, SeesNothingOfTheRunBefore) {
  const auto pool = make_pool();
  Request leaves = shell(
      "echo left > /tmp/left; echo left > /dev/shm/left; (sleep 100 &) ; ulimit -n 50; "
      "echo $$; ls /tmp /dev/shm");
  const Outcome before = run_warm(*pool, leaves);
  EXPECT_THAT(before.out, HasSubstr("left"));
  const Outcome after =
      run_warm(*pool, shell("ls /tmp /dev/shm; ulimit -n; ls -d /proc/[0-9]* | wc -l"));
  EXPECT_THAT(after.out, testing::Not(HasSubstr("left")));
  EXPECT_THAT(after.out, testing::Not(HasSubstr("\n50\n")));
}

TEST_F(WarmLaunch, ManyAtOnceEachGetTheirOwn) {
  const auto pool = make_pool({.size = 8});
  ASSERT_TRUE(pool->warm(shell(""), 8));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string word = std::to_string(t) + "-" + std::to_string(i);
        EXPECT_EQ(run(pool->manager(), shell("echo " + word)).out, word + "\n");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const PoolStats stats = pool->stats();
  EXPECT_EQ(stats.warm + stats.cold, 100U);
  EXPECT_GT(stats.warm, 8U) << "none was made anew";
}

TEST_F(WarmLaunch, OrdinaryUsersHaveItToo) {
  CORDON_NEEDS_SANDBOX(true);
  in_own_process(kOrdinaryUser, [] {
    const auto pool = make_pool();
    Request request = shell("echo $V; ulimit -n");
    request.env = {{"V", "value"}};
    request.limits.open_files = 77;
    EXPECT_EQ(run_warm(*pool, request).out, "value\n77\n");
  });
}

TEST_F(WarmLaunch, PoolThatMayKeepNothingIsRefused) {
  EXPECT_EQ(Pool::make({.size = 0}).error().code, ErrorCode::invalid_argument);
  const auto pool = make_pool({.size = 2});
  const auto refused = pool->warm(shell(""), 3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace cordon::linux_tests
