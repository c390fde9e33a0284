// Who gets what a tenant's run has left, and what is counted for whom. `make soak` sets the count:
//   CORDON_SOAK_REUSE_RUNS
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "linux/hand_clock.h"
#include "linux/reuse_pool.h"
#include "support/eventually.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using testing::HasSubstr;

constexpr std::uint64_t kMega = std::uint64_t{1} << 20;

Request quick(std::optional<Tenant> of = tenant()) {
  return {.program = "/bin/true",
          .cwd = "/usr",
          .out = Output::discard(),
          .err = Output::discard(),
          .timeout = 20s,
          .reuse = std::move(of)};
}

// One process, which uses so much memory and then some time.
Request uses(std::uint64_t megabytes, std::optional<std::uint64_t> limit = {}) {
  Request request = quick();
  request.program = "/usr/bin/python3";
  request.args = {
      "-I", "-S", "-c",
      "x = b'x' * (" + std::to_string(megabytes) + " << 20)\nfor i in range(300000): pass"};
  request.limits.memory_bytes = limit;
  return request;
}

// Until one was.
Outcome run_reused(ReusePool& pool, const Request& request) {
  Outcome outcome;
  for (int i = 0; i < 20 && outcome.launch != Launch::reused; ++i) outcome = pool.run(request);
  EXPECT_EQ(outcome.launch, Launch::reused) << to_json(outcome);
  EXPECT_EQ(outcome.launch_note, "");
  return outcome;
}

class Reuse : public testing::Test {
 protected:
  void SetUp() override {
    CORDON_NEEDS_SANDBOX(false);
    if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "others have networks that nobody can join");
  }
};

TEST_F(Reuse, IsForTheSameTenant) {
  ReusePool pool;
  EXPECT_EQ(pool.run(quick()).launch_note, "nothing was there to be reused");
  (void)run_reused(pool, quick());
  EXPECT_GE(pool.stats().reused, 1U);
}

TEST_F(Reuse, IsNotForAnotherTenantNorForWhoeverNamesNone) {
  ReusePool pool({}, {.size = 4});
  std::map<std::string, std::string> owners;  // of networks, by numbers that are never given twice
  bool same = false;
  for (int i = 0; i < 24; ++i) {
    const std::string owner = std::array{"one", "two", ""}[static_cast<std::size_t>(i) % 3];
    Request request = quick(owner.empty() ? std::optional<Tenant>() : tenant(owner));
    request.program = CORDON_TEST_PROGRAMS_DIR "/leftover";
    request.args = {"show", "network"};
    request.cwd = CORDON_TEST_PROGRAMS_DIR;
    request.out = Output::events();
    const Outcome outcome = pool.run(request);
    if (outcome.exit_code == 1) GTEST_SKIP() << "kernel: networks have no numbers before 5.14";
    ASSERT_EQ(outcome.exit_code, 0) << to_json(outcome);
    const auto [known, added] = owners.try_emplace(outcome.out, owner);
    EXPECT_EQ(known->second, owner);
    EXPECT_TRUE(added || !owner.empty()) << "one-shot";
    same = same || !added;
  }
  EXPECT_TRUE(same) << "no tenant has had one twice";
}

TEST_F(Reuse, IsNotForAnotherKindOfRequest) {
  ReusePool pool({}, {.size = 4});
  (void)pool.run(quick());
  Request other = quick();
  other.network = Network::loopback;
  EXPECT_EQ(pool.run(other).launch, Launch::warm);
}

TEST_F(Reuse, WithoutAPoolIsSaidNotToHappen) {
  const auto manager = make_manager();
  const Outcome outcome = run(*manager, quick());
  EXPECT_EQ(outcome.exit_code, 0) << to_json(outcome);
  EXPECT_EQ(outcome.launch, Launch::cold);
  EXPECT_THAT(outcome.launch_note, HasSubstr("without a pool"));
  EXPECT_EQ(run(*manager, quick(std::nullopt)).launch_note, "");
}

TEST_F(Reuse, IsNoTroubleForOrdinaryUsersWhoHaveNothingToReuse) {
  CORDON_NEEDS_SANDBOX(true);
  in_own_process(kOrdinaryUser, [] {
    ReusePool pool;
    for (int i = 0; i < 3; ++i) {
      const Outcome outcome = pool.run(quick());
      EXPECT_EQ(outcome.exit_code, 0) << to_json(outcome);
      EXPECT_EQ(outcome.launch_note.empty(), outcome.launch == Launch::reused);
    }
  });
}

class ReusedGroup : public Reuse {
 protected:
  void SetUp() override {
    Reuse::SetUp();
    if (IsSkipped()) return;
    if (make_manager()->capabilities().enforcement.memory.level != Guarantee::Level::enforced) {
      CORDON_SKIP_WITHOUT("cgroup", "no control groups here");
    }
  }
};

TEST_F(ReusedGroup, CountsOnlyItsOwnRun) {
  ReusePool pool;
  const Outcome alone = pool.run(quick());
  const Outcome before = pool.run(uses(100));
  ASSERT_EQ(before.exit_code, 0) << to_json(before);
  EXPECT_GE(before.usage.memory_peak_bytes.value_or(0), 100 * kMega);
  for (int i = 0; i < 3; ++i) {
    const Outcome after = pool.run(quick());
    EXPECT_LT(after.usage.memory_peak_bytes.value_or(0),
              alone.usage.memory_peak_bytes.value_or(0) + 2 * kMega);
    EXPECT_LT(*after.usage.cpu_user + *after.usage.cpu_system,
              (*before.usage.cpu_user + *before.usage.cpu_system) / 2);
    EXPECT_EQ(after.usage.processes_peak.value_or(1), 1U);
  }
  EXPECT_GE(pool.stats().reused, 1U);
}

TEST_F(ReusedGroup, WouldCountWhatWasBeforeIfItWereNotCleaned) {
  ReusePool pool({.unclean = true});
  ASSERT_EQ(pool.run(uses(100)).exit_code, 0);
  if (make_manager()->capabilities().enforcement.memory.by.find("v2") != std::string::npos) {
    GTEST_SKIP() << "cgroup v2: its groups are not used again";
  }
  std::uint64_t peak = 0;
  for (int i = 0; i < 3; ++i) {
    peak = std::max(peak, pool.run(quick()).usage.memory_peak_bytes.value_or(0));
  }
  EXPECT_GE(peak, 100 * kMega);
}

TEST_F(ReusedGroup, CountsItsOwnProcesses) {
  ReusePool pool;
  Request many = quick();
  many.program = "/bin/sh";
  many.args = {"-c", "sleep 0.1 & sleep 0.1 & sleep 0.1 & wait"};
  EXPECT_GE(pool.run(many).usage.processes_peak.value_or(4), 4U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pool.run(quick()).usage.processes_peak.value_or(1), 1U);
}

TEST_F(ReusedGroup, HasTheLimitsOfItsOwnRun) {
  ReusePool pool;
  EXPECT_EQ(pool.run(uses(8, 64 * kMega)).exit_code, 0);
  EXPECT_EQ(run_reused(pool, uses(8, 64 * kMega)).exit_code, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pool.run(uses(200, 256 * kMega)).exit_code, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pool.run(uses(200)).exit_code, 0) << "that has none";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pool.run(uses(200, 64 * kMega)).verdict, Verdict::memory);
  }
}

TEST_F(ReusedGroup, IsNotEndedForTheMemoryOfTheRunBefore) {
  ReusePool pool;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pool.run(uses(200, 64 * kMega)).verdict, Verdict::memory);
    const Outcome after = pool.run(uses(8, 64 * kMega));
    EXPECT_EQ(after.verdict, Verdict::exited) << to_json(after);
    EXPECT_TRUE(after.limits_hit.empty()) << to_json(after);
  }
}

TEST_F(ReusedGroup, IsNotToldOfForksThatTheRunBeforeWasRefused) {
  ReusePool pool;
  for (const bool ends : {false, true}) {
    Request bomb = misbehave({"fork-bomb"});
    bomb.reuse = tenant();
    bomb.limits.processes = 8;
    bomb.timeout = 300ms;
    bomb.grace = 1ms;
    bomb.end_at_process_limit = ends;
    const Outcome before = pool.run(bomb);
    EXPECT_EQ(before.verdict, ends ? Verdict::processes : Verdict::timeout) << to_json(before);
    Request next = bomb;
    next.program = "/bin/true";
    next.args = {};
    for (int i = 0; i < 2; ++i) {
      const Outcome after = pool.run(next);
      EXPECT_EQ(after.exit_code, 0) << to_json(after);
      EXPECT_TRUE(after.limits_hit.empty()) << to_json(after);
    }
  }
}

TEST_F(Reuse, OfASandboxThatIsKilledIsReplacedAndNoRequestFails) {
  in_own_process([] {
    ReusePool pool;
    (void)run_reused(pool, quick());
    for (int round = 0; round < 5; ++round) {
      ASSERT_TRUE(eventually([&] { return pool.stats().ready == 1; }));
      const std::uint64_t before = pool.stats().replaced;
      for (const pid_t pid : parked()) ASSERT_EQ(::kill(pid, SIGKILL), 0);
      // Now and then the request is faster than the pool.
      if (round % 2 == 0) {
        ASSERT_TRUE(eventually([&] { return pool.stats().replaced > before; }));
      }
      const Outcome outcome = run(pool.manager(), quick());
      EXPECT_EQ(outcome.exit_code, 0) << to_json(outcome);
    }
    (void)run_reused(pool, quick());
  });
}

TEST_F(Reuse, ManyTenantsAtOnceEachGetTheirOwn) {
  ReusePool pool({}, {.size = 8});
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        Request request = quick(tenant(std::to_string(t % 2)));
        const std::string word = std::to_string(t) + "-" + std::to_string(i);
        request.program = "/bin/echo";
        request.args = {word};
        request.out = Output::events();
        EXPECT_EQ(run(pool.manager(), request).out, word + "\n");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Long enough for the pool to have made another meanwhile.
Request slow() {
  Request request = quick();
  request.program = "/bin/sleep";
  request.args = {"0.1"};
  return request;
}

TEST_F(Reuse, OfWhatIsLeftEndsWhenNobodyAsksForADay) {
  HandClock clock;
  ReusePool pool({}, {.size = 1}, clock);
  EXPECT_EQ(pool.run(slow()).exit_code, 0);
  ASSERT_TRUE(eventually([&] { return pool.stats().left == 1 && pool.stats().ready == 1; }));
  clock.advance(24h);
  (void)pool.pool().tend();
  EXPECT_EQ(pool.stats().left, 0U);
  EXPECT_EQ(pool.stats().ready, 0U);
  (void)run_reused(pool, quick());
}

TEST_F(Reuse, OfWhatIsLeftTakesNoMoreMemoryThanAPoolMay) {
  ReusePool pool({}, {.size = 2, .memory_bytes = 1});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pool.run(slow()).exit_code, 0);
    ASSERT_TRUE(eventually([&] { return pool.stats().ready == 1; }));
    EXPECT_EQ(pool.stats().left, 0U);
  }
}

TEST_F(Reuse, EndsWithEverythingItHolds) {
  in_own_process([] {
    const Traces before = traces();
    {
      ReusePool pool({}, {.size = 4});
      for (int i = 0; i < 8; ++i) (void)pool.run(quick());
    }
    EXPECT_EQ(traces_settled(before), before);
  });
}

TEST_F(Reuse, ManyRunsLeaveNothingAndGrowNothing) {
  const int count = count_from("CORDON_SOAK_REUSE_RUNS", 200);
  in_own_process([count] {
    ReusePool pool({}, {.size = 4});
    std::uint64_t reused = 0;
    const auto run_some = [&](int runs) {
      for (int i = 0; i < runs && !testing::Test::HasFailure(); ++i) {
        const Outcome outcome = run_to_end(pool.manager(), quick());
        EXPECT_EQ(outcome.exit_code, 0) << to_json(outcome);
        reused += outcome.launch == Launch::reused ? 1 : 0;
      }
    };
    run_some(std::max(50, count / 20));
    const Traces before = traces_at_rest();
    const std::size_t memory = resident_bytes();
    reused = 0;
    run_some(count);
    Traces after = traces_settled(before);
    // What is ready or left at the moment differs a little: groups, and descriptors of each.
    constexpr std::size_t kOfSome = 100;
    EXPECT_LE(after.descriptors, before.descriptors + kOfSome);
    EXPECT_LE(after.groups, before.groups + 12);
    EXPECT_LE(after.children, before.children + 8);
    after.descriptors = before.descriptors;
    after.groups = before.groups;
    after.children = before.children;
    EXPECT_EQ(after, before);
    const auto grown = static_cast<long long>(resident_bytes()) - static_cast<long long>(memory);
    std::printf("figure: %d runs, %llu of them with something reused, memory grown by %lld KiB\n",
                count, static_cast<unsigned long long>(reused), grown / 1024);
    EXPECT_GT(reused, 0U);
    if (!kKeepsFreedMemory) {
      EXPECT_LE(grown, 1 << 20);
    }
  });
}

}  // namespace
}  // namespace cordon::linux_tests
