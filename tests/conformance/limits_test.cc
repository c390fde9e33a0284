// Limits: each ends the run, or makes the program fail, and the verdict says which.
#include <csignal>

#include "conformance/world.h"
#include "support/must_work.h"
#include "support/slowness.h"

namespace cordon::conformance {
namespace {

using namespace std::chrono_literals;

class LimitsHold : public Conformance {};

TEST_P(LimitsHold, ProcessorTimeIsMeasuredNotWallTime) {  // C16
  Request request = world().burns_cpu();
  request.limits.cpu_time = 100ms;
  request.timeout = 60s;
  const auto outcome = start(std::move(request))->wait();
  EXPECT_EQ(outcome->verdict, Verdict::cpu_time);
  EXPECT_EQ(exit_status(*outcome), 124);
  ASSERT_TRUE(outcome->limit);
  EXPECT_EQ(outcome->limit->name, "cpu_time");
  EXPECT_EQ(outcome->limit->limit, 100U);
  EXPECT_GE(outcome->limit->observed, 100U);
  EXPECT_THAT(outcome->hint, testing::HasSubstr("--cpu-time"));
}

TEST_P(LimitsHold, WaitingUsesNoProcessorTime) {
  Request request = world().hangs();
  request.limits.cpu_time = support::enough(50ms);
  request.timeout = GetParam().begins + support::enough(200ms);
  EXPECT_EQ(start(std::move(request))->wait()->verdict, Verdict::timeout);
}

TEST_P(LimitsHold, FileBeyondItsSizeEndsTheRun) {  // C19
  Request request = world().writes_file(2 << 20);
  request.limits.file_size_bytes = 1 << 20;
  const auto outcome = start(std::move(request))->wait();
  EXPECT_EQ(outcome->verdict, Verdict::file_size);
  EXPECT_EQ(outcome->termination.signal, SIGXFSZ);
  ASSERT_TRUE(outcome->limit);
  EXPECT_EQ(outcome->limit->limit, 1U << 20);
}

TEST_P(LimitsHold, FileWithinItsSizeIsFine) {
  Request request = world().writes_file(1 << 19);
  request.limits.file_size_bytes = 1 << 20;
  EXPECT_EQ(start(std::move(request))->wait()->exit_code, 0);
}

TEST_P(LimitsHold, MemoryBeyondTheLimitIsNotToBeHad) {  // C79
  const Guarantee memory = manager().capabilities().enforcement.memory;
  if (GetParam().name == "gvisor" && memory.level == Guarantee::Level::none) {
    CORDON_SKIP_WITHOUT("cgroup", memory.note);
  }
  Request request = world().allocates(200 << 20);
  request.limits.memory_bytes = 50 << 20;
  const auto outcome = start(std::move(request))->wait();
  // Killed for it, or refused by its allocator: a backend says which in its capabilities.
  EXPECT_TRUE(outcome->verdict == Verdict::memory || outcome->exit_code == 3)
      << to_string(outcome->verdict);
}

TEST_P(LimitsHold, MemoryWithinTheLimitIsFine) {
  Request request = world().allocates(20 << 20);
  request.limits.memory_bytes = 50 << 20;
  EXPECT_EQ(start(std::move(request))->wait()->exit_code, 0);
}

TEST_P(LimitsHold, SignalsThatLookLikeLimitsAreNotTakenForThem) {
  // No limit was set, or it was not reached: the program's own doing.
  EXPECT_EQ(start(world().dies(SIGXFSZ))->wait()->verdict, Verdict::signaled);
  Request request = world().dies(SIGXCPU);
  request.limits.cpu_time = 1h;
  EXPECT_EQ(start(std::move(request))->wait()->verdict, Verdict::signaled);
}

CORDON_CONFORMANCE_SUITE(LimitsHold);

}  // namespace
}  // namespace cordon::conformance
