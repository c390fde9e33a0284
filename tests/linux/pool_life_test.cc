// What a pool keeps ready, for how long, and what is left of it. `make soak` sets the count:
//   CORDON_SOAK_WARM_RUNS
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cordon/pool.h"
#include "cordon/run.h"
#include "linux/hand_clock.h"
#include "linux/harness.h"
#include "supervise/supervising_manager.h"
#include "support/eventually.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using linux_backend::LinuxBackend;
using support::eventually;

Request quick() {
  return {.program = "/bin/true",
          .cwd = "/usr",
          .out = Output::discard(),
          .err = Output::discard(),
          .timeout = 20s};
}

class PoolLife : public testing::Test {
 protected:
  void SetUp() override { CORDON_NEEDS_SANDBOX(false); }
};

TEST_F(PoolLife, WhatIsAskedForAgainIsKeptReady) {
  auto pool = Pool::make({.size = 4}).value();
  EXPECT_EQ(run(pool->manager(), quick()).launch, Launch::cold);
  EXPECT_EQ(run(pool->manager(), quick()).launch, Launch::cold);
  EXPECT_TRUE(eventually([&] { return pool->stats().ready == 1; }));
  EXPECT_EQ(run(pool->manager(), quick()).launch, Launch::warm);
  EXPECT_TRUE(eventually([&] { return pool->stats().ready == 1; }));
  EXPECT_EQ(pool->stats().warm, 1U);
}

TEST_F(PoolLife, WhatIsAskedForOnceIsNot) {
  auto pool = Pool::make({.size = 4}).value();
  const Folder folder;
  for (int i = 0; i < 40; ++i) {
    Request request = quick();
    const std::string own = folder.path(std::to_string(i));
    std::filesystem::create_directory(own);
    request.grants = {Grant::read(own)};
    EXPECT_EQ(run(pool->manager(), request).exit_code, 0);
  }
  EXPECT_EQ(pool->stats().made, 0U);
}

TEST_F(PoolLife, NewKindsTakeThePlaceOfOldOnes) {
  auto pool = Pool::make({.size = 2}).value();
  ASSERT_TRUE(pool->warm(quick(), 2));
  Request other = quick();
  other.network = Network::loopback;
  ASSERT_TRUE(pool->warm(other, 1));
  EXPECT_EQ(pool->stats().ready, 2U);
  EXPECT_EQ(run(pool->manager(), other).launch, Launch::warm);
}

TEST_F(PoolLife, KindsThatDoNotAllFitDoNotPushEachOtherOutForEver) {
  auto pool = Pool::make({.size = 1}).value();
  ASSERT_TRUE(pool->warm(quick(), 1));
  Request other = quick();
  other.network = Network::loopback;
  ASSERT_TRUE(pool->warm(other, 1));
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < 100ms) {
    ASSERT_TRUE(pool->warm(other, 1));
    ASSERT_EQ(pool->stats().made, 2U);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(run(pool->manager(), other).launch, Launch::warm);
}

TEST_F(PoolLife, SandboxThatIsKilledIsReplacedAndNoRequestFails) {
  in_own_process([] {
    auto pool = Pool::make({.size = 4}).value();
    ASSERT_TRUE(pool->warm(quick(), 4));
    for (int round = 0; round < 5; ++round) {
      const auto waiting = parked();
      ASSERT_FALSE(waiting.empty());
      for (const pid_t pid : waiting) ASSERT_EQ(::kill(pid, SIGKILL), 0);
      const Outcome outcome = run(pool->manager(), quick());
      EXPECT_EQ(outcome.exit_code, 0) << to_json(outcome);
      ASSERT_TRUE(eventually([&] { return pool->stats().ready == 4; }));
    }
    EXPECT_GE(pool->stats().replaced, 4U);
  });
}

// Nobody has to ask for one: a file system that is to go is not kept busy.
TEST_F(PoolLife, SandboxesThatShowOldMountsAreReplaced) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "others cannot mount");
  in_own_process([] {
    ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
    ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    const Folder folder;
    auto pool = Pool::make({.size = 2}).value();
    ASSERT_TRUE(pool->warm(quick(), 2));
    ASSERT_EQ(::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, nullptr), 0);
    EXPECT_TRUE(eventually([&] {
      const PoolStats stats = pool->stats();
      return stats.replaced == 2 && stats.ready == 2;
    }));
    ::umount2(folder.path().c_str(), MNT_DETACH);
  });
}

TEST_F(PoolLife, NothingOutlivesItsOwnerThatIsKilled) {
  in_own_process([] {
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    int ready[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const pid_t owner = ::fork();
    ASSERT_GE(owner, 0);
    if (owner == 0) {
      auto pool = Pool::make({.size = 4});
      if (!pool || !(*pool)->warm(quick(), 4)) ::_exit(1);
      (void)!::write(ready[1], "", 1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ASSERT_EQ(::kill(owner, SIGKILL), 0);
    EXPECT_TRUE(reap_all(10s)) << "something outlives it";
    make_manager().reset();  // groups are left to the next supervisor
    EXPECT_EQ(groups_of(owner), 0U);
  });
}

TEST_F(PoolLife, EndsWithEverythingItHolds) {
  in_own_process([] {
    const Traces before = traces();
    {
      auto pool = Pool::make({.size = 4}).value();
      ASSERT_TRUE(pool->warm(quick(), 4));
      EXPECT_EQ(run(pool->manager(), quick()).exit_code, 0);
    }
    EXPECT_EQ(traces_settled(before), before);
  });
}

TEST_F(PoolLife, TakesNoMoreMemoryThanItMay) {
  auto pool = Pool::make({.size = 4, .memory_bytes = 1}).value();
  const auto refused = pool->warm(quick(), 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(pool->stats().ready, 1U) << "the one that showed how much they take";
}

TEST_F(PoolLife, WhatIsToBeReadyNowTakesTheRoomOfWhatWasBefore) {
  auto pool = Pool::make({.size = 4}).value();
  Request other = quick();
  other.network = Network::loopback;
  ASSERT_TRUE(pool->warm(quick(), 3));
  ASSERT_TRUE(pool->warm(other, 3));
  EXPECT_EQ(run_to_end(pool->manager(), other).launch, Launch::warm);
  ASSERT_TRUE(pool->warm(quick(), 4));
  EXPECT_EQ(run_to_end(pool->manager(), quick()).launch, Launch::warm);
}

// One that is finished when it is no longer wanted does not take that room for ever. How long after
// a run another one is made is the pool's affair: the moments tried lie around that.
TEST_F(PoolLife, WhatIsBeingMadeMeanwhileDoesNotTakeTheRoom) {
  auto pool = Pool::make({.size = 4}).value();
  Request other = quick();
  other.network = Network::loopback;
  for (auto pause = 0us; pause < 12ms; pause += 400us) {
    ASSERT_TRUE(pool->warm(other, 3));
    EXPECT_EQ(run(pool->manager(), other).exit_code, 0);
    std::this_thread::sleep_for(pause);
    ASSERT_TRUE(pool->warm(quick(), 4));
  }
}

TEST_F(PoolLife, WhoAsksForMoreThanThereIsRoomForAtOnceIsTold) {
  auto pool = Pool::make({.size = 4}).value();
  Request other = quick();
  other.network = Network::loopback;
  Result<void> first;
  Result<void> second;
  {
    const std::jthread one([&] { first = pool->warm(quick(), 4); });
    const std::jthread two([&] { second = pool->warm(other, 4); });
  }
  // One after the other there is room, at the same time there is not.
  EXPECT_TRUE(first || second);
  for (const auto& told : {first, second}) {
    if (!told) {
      EXPECT_EQ(told.error().code, ErrorCode::resource_exhausted);
    }
  }
}

TEST_F(PoolLife, WorksWithoutControlGroups) {
  auto backend = LinuxBackend::make({.no_groups = true}).value();
  ASSERT_TRUE(backend->keep_ready({.size = 2}));
  LinuxBackend& raw = *backend;
  supervise::SupervisingManager manager(std::move(backend));
  Request request = quick();
  request.program = "/bin/sh";
  request.args = {"-c", "ulimit -n"};
  request.out = Output::events();
  request.limits.open_files = 55;
  ASSERT_TRUE(raw.pool()->warm(**raw.place_for(""), raw.sandbox_plan(request, {}).value(), 1));
  const Outcome outcome = run(manager, request);
  EXPECT_EQ(outcome.launch, Launch::warm) << to_json(outcome);
  EXPECT_EQ(outcome.out, "55\n");
}

TEST_F(PoolLife, ShrinksWhenNobodyAsksForADayAndComesBack) {
  HandClock clock;
  auto backend = LinuxBackend::make().value();
  ASSERT_TRUE(backend->keep_ready({.size = 4}, clock));
  LinuxBackend& raw = *backend;
  supervise::SupervisingManager manager(std::move(backend));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(run(manager, quick()).exit_code, 0);
  ASSERT_TRUE(eventually([&] { return raw.pool()->stats().ready > 0; }));
  clock.advance(24h);
  (void)raw.pool()->tend();
  ASSERT_TRUE(eventually([&] { return raw.pool()->stats().ready == 0; }));
  EXPECT_EQ(raw.pool()->stats().kinds, 0U);
  EXPECT_EQ(run(manager, quick()).launch, Launch::cold);
  ASSERT_TRUE(eventually([&] { return raw.pool()->stats().ready > 0; }));
  EXPECT_EQ(run(manager, quick()).launch, Launch::warm);
}

TEST_F(PoolLife, KeepsFewerWhenFewerAreNeeded) {
  HandClock clock;
  auto backend = LinuxBackend::make().value();
  ASSERT_TRUE(backend->keep_ready({.size = 8, .idle = 80s}, clock));
  LinuxBackend& raw = *backend;
  supervise::SupervisingManager manager(std::move(backend));
  const auto plan = raw.sandbox_plan(quick(), {}).value();
  linux_backend::Place& place = **raw.place_for("");
  ASSERT_TRUE(raw.pool()->warm(place, plan, 8));
  for (int period = 0; period < 8; ++period) {
    clock.advance(11s);
    EXPECT_EQ(run(manager, quick()).exit_code, 0);
    ASSERT_TRUE(eventually([&] { return raw.pool()->stats().ready > 0; }));
    (void)raw.pool()->tend();
  }
  EXPECT_TRUE(eventually([&] { return raw.pool()->stats().ready <= 3; }))
      << raw.pool()->stats().ready;
}

TEST_F(PoolLife, ManyRunsLeaveNothingAndGrowNothing) {
  const int count = count_from("CORDON_SOAK_WARM_RUNS", 200);
  in_own_process([count] {
    auto pool = Pool::make({.size = 4}).value();
    const auto run_some = [&](int runs) {
      for (int i = 0; i < runs && !testing::Test::HasFailure(); ++i) {
        const Outcome outcome = run_to_end(pool->manager(), quick());
        EXPECT_EQ(outcome.exit_code, 0) << to_json(outcome);
      }
    };
    run_some(std::max(50, count / 20));
    ASSERT_TRUE(pool->warm(quick(), 4));
    const Traces before = traces_at_rest();
    const std::size_t memory = resident_bytes();
    const std::uint64_t warm = pool->stats().warm;
    run_some(count);
    ASSERT_TRUE(pool->warm(quick(), 4));
    Traces after = traces_settled(before);
    // Ids that were in use at the same time are kept, with their descriptors, for the next runs.
    constexpr std::size_t kOfIds = 12;
    EXPECT_LE(after.descriptors, before.descriptors + kOfIds);
    after.descriptors = before.descriptors;
    EXPECT_EQ(after, before);
    const auto grown = static_cast<long long>(resident_bytes()) - static_cast<long long>(memory);
    std::printf("figure: %d runs, %llu of them warm, memory grown by %lld KiB\n", count,
                static_cast<unsigned long long>(pool->stats().warm - warm), grown / 1024);
    if (!kKeepsFreedMemory) {
      EXPECT_LE(grown, 1 << 20);
    }
  });
}

}  // namespace
}  // namespace cordon::linux_tests
