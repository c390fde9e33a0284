// What an outcome tells of the limit that ended a run, and of a run that never began.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <optional>

#include "outcome/decide.h"
#include "outcome/decide_case.h"

namespace cordon::outcome {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;
using Type = Termination::Type;

TEST(DecideLimitTest, TimeoutTellsAskedAndObservedMilliseconds) {
  Ending e;
  e.first_action = Verdict::timeout;
  e.timeout = 1500ms;
  e.wall = 1600ms;
  const auto limit = decide(e).limit;
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->limit, 1500U);
  EXPECT_EQ(limit->observed, 1600U);
  EXPECT_THAT(limit->evidence, testing::Not(IsEmpty()));
}

TEST(DecideLimitTest, CpuTimeTellsMillisecondsUsed) {
  Ending e;
  e.signal = SIGXCPU;
  e.limits.cpu_time = 1s;
  e.usage = used(900ms, 300ms);
  const auto limit = decide(e).limit;
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->limit, 1000U);
  EXPECT_EQ(limit->observed, 1200U);
  EXPECT_THAT(limit->evidence, HasSubstr("SIGXCPU"));
}

TEST(DecideLimitTest, CpuTimeTellsWhoseClockDecided) {
  Ending e;
  e.signal = SIGKILL;
  e.limits.cpu_time = 1s;
  e.usage = used(900ms, 300ms);
  EXPECT_THAT(decide(e).limit->evidence, HasSubstr("killed"));
  e.first_action = Verdict::cpu_time;
  EXPECT_EQ(decide(e).limit->evidence, "processor time of the program");
  e.evidence = "processor time of the control group";
  EXPECT_EQ(decide(e).limit->evidence, "processor time of the control group");
}

TEST(DecideLimitTest, OutputTellsBytes) {
  Ending e;
  e.first_action = Verdict::output;
  e.limits.output_bytes = 1000;
  e.output_bytes = 1400;
  e.output_truncated = true;
  const Outcome o = decide(e);
  ASSERT_TRUE(o.limit);
  EXPECT_EQ(o.limit->limit, 1000U);
  EXPECT_EQ(o.limit->observed, 1400U);
  EXPECT_TRUE(o.output_truncated);
}

TEST(DecideLimitTest, MemoryTellsThePeakWhereItIsKnown) {
  Ending e;
  e.first_action = Verdict::memory;
  e.limits.memory_bytes = 1000;
  EXPECT_EQ(decide(e).limit->observed, std::nullopt) << "unknown is empty, never zero";
  e.usage.memory_peak_bytes = 998;
  EXPECT_EQ(decide(e).limit->observed, 998U);
}

TEST(DecideLimitTest, EvidenceOfTheBackendIsKept) {
  Ending e;
  e.first_action = Verdict::memory;
  e.limits.memory_bytes = 1000;
  e.evidence = "memory.events oom_kill +1";
  EXPECT_EQ(decide(e).limit->evidence, "memory.events oom_kill +1");
}

TEST(DecideLimitTest, TouchedLimitsDoNotDecideTheVerdict) {
  Ending e;
  e.limits_hit = {LimitHit{"memory", 10, 10, "memory.events max +3"}};
  const Outcome o = decide(e);
  EXPECT_EQ(o.verdict, Verdict::exited);
  EXPECT_FALSE(o.limit);
  EXPECT_FALSE(o.memory_exceeded);
  ASSERT_EQ(o.limits_hit.size(), 1U);
  EXPECT_EQ(o.limits_hit[0].name, "memory");
}

TEST(FailedToStartTest, KeepsTheErrorAndNeverRan) {
  const Error error{ErrorCode::not_found, "exec", 2, "program x was not found"};
  const Outcome o = failed_to_start(3, "posix", {}, error);
  EXPECT_EQ(o.id, 3U);
  EXPECT_EQ(o.backend, "posix");
  EXPECT_EQ(o.verdict, Verdict::failed_to_start);
  EXPECT_EQ(o.termination.code, 127);  // C52
  EXPECT_EQ(o.termination.type, Type::exit);
  EXPECT_EQ(o.exit_code, std::nullopt) << "the program has none of its own";
  EXPECT_EQ(o.wall, 0s);
  ASSERT_TRUE(o.error);
  EXPECT_EQ(o.error->message, "program x was not found");
}

TEST(FailedToStartTest, RefusalIsDenied) {
  const Outcome o = failed_to_start(1, "posix", {}, {ErrorCode::not_permitted, "policy", 0, "no"});
  EXPECT_EQ(o.verdict, Verdict::denied);
  EXPECT_EQ(o.termination.code, 126);
  ASSERT_TRUE(o.error);
}

}  // namespace
}  // namespace cordon::outcome
