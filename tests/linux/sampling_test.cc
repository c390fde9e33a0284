// Limits without control groups: the supervisor looks at the whole tree itself.
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux/harness.h"
#include "support/must_work.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::uint64_t kMegabyte = 1 << 20;

// As an ordinary user, and as whoever runs the tests.
class Sampled : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { CORDON_NEEDS_SANDBOX(GetParam()); }
  static void run(Request request, const std::function<void(const Outcome&)>& check) {
    in_own_process(GetParam() ? kOrdinaryUser : ::geteuid(), [&] {
      const auto manager = make_manager({.no_groups = true});
      if (manager) check(run_to_end(*manager, std::move(request)));
    });
  }
};

TEST_P(Sampled, MemoryOfATreeEndsTheRun) {
  Request request = misbehave({"crowd", "6", std::to_string(30 * kMegabyte)});
  request.limits.memory_bytes = 100 * kMegabyte;  // no process comes near it
  request.timeout = 20s;
  run(std::move(request), [](const Outcome& outcome) {
    EXPECT_EQ(outcome.verdict, Verdict::memory) << to_json(outcome);
    EXPECT_TRUE(outcome.memory_exceeded);
    ASSERT_TRUE(outcome.limit);
    EXPECT_THAT(outcome.limit->evidence, HasSubstr("sampled memory of the tree: "));
    EXPECT_GT(outcome.limit->observed, 100 * kMegabyte);
    EXPECT_EQ(outcome.limit->observed, outcome.usage.memory_peak_bytes);
    EXPECT_THAT(describe(outcome.enforcement.memory), HasSubstr("sampled"));
    EXPECT_EQ(exit_status(outcome), 124);
  });
}

TEST_P(Sampled, TreeWithinItsMemoryRunsOn) {
  Request request = misbehave({"crowd", "6", std::to_string(10 * kMegabyte)});
  request.limits.memory_bytes = 100 * kMegabyte;
  request.timeout = 500ms;
  run(std::move(request), [](const Outcome& outcome) {
    EXPECT_EQ(outcome.verdict, Verdict::timeout) << to_json(outcome);
    EXPECT_GT(outcome.usage.memory_peak_bytes, 50 * kMegabyte);
    EXPECT_EQ(outcome.usage.processes_peak, 7U);
  });
}

TEST_P(Sampled, MemoryThatNoRlimitCountsEndsTheRun) {
  for (const bool hidden : {false, true}) {
    Request request = misbehave({"shared-bomb"});
    if (hidden) request.args.emplace_back("hide");
    request.limits.memory_bytes = 100 * kMegabyte;
    request.timeout = 20s;
    run(std::move(request), [](const Outcome& outcome) {
      EXPECT_EQ(outcome.verdict, Verdict::memory) << to_json(outcome);
      ASSERT_TRUE(outcome.limit);
      EXPECT_THAT(outcome.limit->evidence, HasSubstr("sampled memory of the tree: "));
      std::printf("figure: %llu MiB seen of 100 MiB allowed\n",
                  static_cast<unsigned long long>(*outcome.limit->observed / kMegabyte));
    });
  }
}

TEST_P(Sampled, ProcessorTimeOfATreeEndsTheRun) {
  Request request = misbehave({"spinners", "3"});
  request.limits.cpu_time = 300ms;
  request.timeout = 30s;
  run(std::move(request), [](const Outcome& outcome) {
    EXPECT_EQ(outcome.verdict, Verdict::cpu_time) << to_json(outcome);
    ASSERT_TRUE(outcome.limit);
    EXPECT_THAT(outcome.limit->evidence, HasSubstr("sampled processor time of the tree"));
    EXPECT_GE(outcome.limit->observed, 300U);
    EXPECT_THAT(describe(outcome.enforcement.cpu), HasSubstr("sampled"));
  });
}

// The kernel counts no processes for root, which is what a container's root without capabilities
// is.
TEST(SampledProcesses, BeyondTheLimitEndTheRun) {
  if (::geteuid() != 0) GTEST_SKIP() << "for root only";
  if (!can_sandbox()) CORDON_SKIP_WITHOUT("linux", "no sandbox can be made here");
  in_own_process([] {
    const __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    constexpr unsigned kMapRoot = 1U << CAP_SETFCAP;  // without it the kernel maps no root
    const __user_cap_data_struct hardly_any[2]{{kMapRoot, kMapRoot, 0}, {}};
    ASSERT_EQ(::syscall(SYS_capset, &header, hardly_any), 0);
    const auto manager = make_manager({.no_groups = true});
    ASSERT_TRUE(manager);
    Request request = misbehave({"crowd", "40", "4096"});
    request.limits.processes = 20;
    request.timeout = 20s;
    const Outcome outcome = run_to_end(*manager, std::move(request));
    EXPECT_EQ(outcome.verdict, Verdict::processes) << to_json(outcome);
    ASSERT_TRUE(outcome.limit);
    EXPECT_THAT(outcome.limit->evidence, HasSubstr("sampled processes of the tree: "));
    EXPECT_GT(outcome.limit->observed, 20U);
    EXPECT_THAT(describe(outcome.enforcement.processes), HasSubstr("sampled"));
  });
}

INSTANTIATE_TEST_SUITE_P(, Sampled, testing::Bool(), [](const auto& ordinary) {
  return ordinary.param ? "OrdinaryUser" : "Caller";
});

}  // namespace
}  // namespace cordon::linux_tests
