#include "outcome/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <ostream>
#include <string>

namespace cordon::outcome {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;
using Type = Termination::Type;

Usage used(Duration user, Duration system) {
  Usage usage;
  usage.cpu_user = user;
  usage.cpu_system = system;
  return usage;
}

struct Case {
  const char* name;
  // What is known …
  std::optional<Verdict> first_action;
  int exit_code;
  int signal;
  Limits limits;
  Usage usage;
  // … and what follows from it.
  Verdict verdict;
  Type type;
  int code;
  int kept_signal;
  std::optional<int> program_code;
  const char* limit;  // "": none
  const char* hint;   // "": none
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class DecideTest : public testing::TestWithParam<Case> {};

TEST_P(DecideTest, FollowsFromTheEvidence) {
  const Case& c = GetParam();
  Ending e;
  e.id = 7;
  e.backend = "posix";
  e.first_action = c.first_action;
  e.exit_code = c.exit_code;
  e.signal = c.signal;
  e.limits = c.limits;
  e.usage = c.usage;
  e.wall = 1234ms;
  e.timeout = 1s;
  e.output_bytes = 99;

  const Outcome o = decide(e);
  EXPECT_EQ(o.verdict, c.verdict) << to_string(o.verdict);
  EXPECT_EQ(o.termination.type, c.type) << to_string(o.termination.type);
  EXPECT_EQ(o.termination.code, c.code);
  EXPECT_EQ(o.termination.signal, c.kept_signal);
  EXPECT_EQ(o.termination.duration, 1234ms);
  EXPECT_EQ(o.exit_code, c.program_code);
  EXPECT_EQ(o.limit ? o.limit->name : "", c.limit);
  if (*c.hint == '\0') {
    EXPECT_THAT(o.hint, IsEmpty());
  } else {
    EXPECT_THAT(o.hint, HasSubstr(c.hint));
  }
  EXPECT_EQ(o.timed_out, c.verdict == Verdict::timeout);
  EXPECT_EQ(o.memory_exceeded, c.verdict == Verdict::memory);
  EXPECT_EQ(o.id, 7U);
  EXPECT_EQ(o.backend, "posix");
  EXPECT_EQ(o.wall, 1234ms);
  EXPECT_EQ(o.output_bytes, 99U);
  EXPECT_FALSE(o.error);
}

const Limits kCpu{.cpu_time = 2s};
const Limits kFile{.file_size_bytes = 4096};
const std::optional<int> kNone;

// C50 C51 C55 C56 C57
INSTANTIATE_TEST_SUITE_P(
    ByItself, DecideTest,
    testing::Values(
        Case{"exit 0", {}, 0, 0, {}, {}, Verdict::exited, Type::exit, 0, 0, 0, "", ""},
        Case{"exit 1", {}, 1, 0, {}, {}, Verdict::exited, Type::exit, 1, 0, 1, "", ""},
        Case{"exit 42", {}, 42, 0, {}, {}, Verdict::exited, Type::exit, 42, 0, 42, "", ""},
        Case{"exit 137 is no signal",
             {},
             137,
             0,
             {},
             {},
             Verdict::exited,
             Type::exit,
             137,
             0,
             137,
             "",
             ""},
        Case{"SIGSEGV",
             {},
             0,
             SIGSEGV,
             {},
             {},
             Verdict::signaled,
             Type::signal,
             SIGSEGV,
             SIGSEGV,
             kNone,
             "",
             ""},
        Case{"SIGTERM of somebody else",
             {},
             0,
             SIGTERM,
             {},
             {},
             Verdict::signaled,
             Type::signal,
             SIGTERM,
             SIGTERM,
             kNone,
             "",
             ""},
        Case{"SIGKILL of somebody else",
             {},
             0,
             SIGKILL,
             kCpu,
             used(1s, 0s),
             Verdict::signaled,
             Type::signal,
             SIGKILL,
             SIGKILL,
             kNone,
             "",
             ""}));

INSTANTIATE_TEST_SUITE_P(ByTheKernel, DecideTest,
                         testing::Values(Case{"SIGXCPU, time used",
                                              {},
                                              0,
                                              SIGXCPU,
                                              kCpu,
                                              used(1500ms, 500ms),
                                              Verdict::cpu_time,
                                              Type::signal,
                                              SIGXCPU,
                                              SIGXCPU,
                                              kNone,
                                              "cpu_time",
                                              "--cpu-time"},
                                         Case{"SIGKILL at the hard limit",
                                              {},
                                              0,
                                              SIGKILL,
                                              kCpu,
                                              used(2s, 1s),
                                              Verdict::cpu_time,
                                              Type::signal,
                                              SIGKILL,
                                              SIGKILL,
                                              kNone,
                                              "cpu_time",
                                              "--cpu-time"},
                                         Case{"SIGXCPU sent by itself",
                                              {},
                                              0,
                                              SIGXCPU,
                                              kCpu,
                                              used(1ms, 1ms),
                                              Verdict::signaled,
                                              Type::signal,
                                              SIGXCPU,
                                              SIGXCPU,
                                              kNone,
                                              "",
                                              ""},
                                         Case{"SIGXCPU, time unknown",
                                              {},
                                              0,
                                              SIGXCPU,
                                              kCpu,
                                              {},
                                              Verdict::signaled,
                                              Type::signal,
                                              SIGXCPU,
                                              SIGXCPU,
                                              kNone,
                                              "",
                                              ""},
                                         Case{"SIGXCPU without a limit of ours",
                                              {},
                                              0,
                                              SIGXCPU,
                                              {},
                                              used(9s, 9s),
                                              Verdict::signaled,
                                              Type::signal,
                                              SIGXCPU,
                                              SIGXCPU,
                                              kNone,
                                              "",
                                              ""},
                                         Case{"SIGSEGV after the time was used",
                                              {},
                                              0,
                                              SIGSEGV,
                                              kCpu,
                                              used(9s, 9s),
                                              Verdict::signaled,
                                              Type::signal,
                                              SIGSEGV,
                                              SIGSEGV,
                                              kNone,
                                              "",
                                              ""},
                                         Case{"exit 0 after the time was used",
                                              {},
                                              0,
                                              0,
                                              kCpu,
                                              used(9s, 9s),
                                              Verdict::exited,
                                              Type::exit,
                                              0,
                                              0,
                                              0,
                                              "",
                                              ""},
                                         Case{"SIGXFSZ",
                                              {},
                                              0,
                                              SIGXFSZ,
                                              kFile,
                                              {},
                                              Verdict::file_size,
                                              Type::signal,
                                              SIGXFSZ,
                                              SIGXFSZ,
                                              kNone,
                                              "file_size",
                                              "--file-size"},
                                         Case{"SIGXFSZ without a limit of ours",
                                              {},
                                              0,
                                              SIGXFSZ,
                                              {},
                                              {},
                                              Verdict::signaled,
                                              Type::signal,
                                              SIGXFSZ,
                                              SIGXFSZ,
                                              kNone,
                                              "",
                                              ""}));

// C53 C54
INSTANTIATE_TEST_SUITE_P(ByCordonFirst, DecideTest,
                         testing::Values(Case{"timeout, SIGTERM",
                                              Verdict::timeout,
                                              0,
                                              SIGTERM,
                                              {},
                                              {},
                                              Verdict::timeout,
                                              Type::timeout,
                                              5,
                                              SIGTERM,
                                              kNone,
                                              "timeout",
                                              "--timeout"},
                                         Case{"timeout, SIGKILL",
                                              Verdict::timeout,
                                              0,
                                              SIGKILL,
                                              {},
                                              {},
                                              Verdict::timeout,
                                              Type::timeout,
                                              5,
                                              SIGKILL,
                                              kNone,
                                              "timeout",
                                              "--timeout"},
                                         Case{"timeout, then exit 0",
                                              Verdict::timeout,
                                              0,
                                              0,
                                              {},
                                              {},
                                              Verdict::timeout,
                                              Type::timeout,
                                              5,
                                              0,
                                              0,
                                              "timeout",
                                              "--timeout"},
                                         Case{"timeout, then SIGXFSZ",
                                              Verdict::timeout,
                                              0,
                                              SIGXFSZ,
                                              kFile,
                                              {},
                                              Verdict::timeout,
                                              Type::timeout,
                                              5,
                                              SIGXFSZ,
                                              kNone,
                                              "timeout",
                                              "--timeout"},
                                         Case{"cpu_time", Verdict::cpu_time, 0, SIGKILL, kCpu,
                                              used(2s, 0s), Verdict::cpu_time, Type::signal,
                                              SIGKILL, SIGKILL, kNone, "cpu_time", "--cpu-time"},
                                         Case{"memory",
                                              Verdict::memory,
                                              0,
                                              SIGKILL,
                                              {.memory_bytes = 100},
                                              {},
                                              Verdict::memory,
                                              Type::signal,
                                              SIGKILL,
                                              SIGKILL,
                                              kNone,
                                              "memory",
                                              "--memory"},
                                         Case{"processes",
                                              Verdict::processes,
                                              0,
                                              SIGKILL,
                                              {.processes = 3},
                                              {},
                                              Verdict::processes,
                                              Type::signal,
                                              SIGKILL,
                                              SIGKILL,
                                              kNone,
                                              "processes",
                                              "--pids"},
                                         Case{"output",
                                              Verdict::output,
                                              0,
                                              SIGKILL,
                                              {.output_bytes = 10},
                                              {},
                                              Verdict::output,
                                              Type::signal,
                                              SIGKILL,
                                              SIGKILL,
                                              kNone,
                                              "output",
                                              "--output"},
                                         Case{"cancelled, SIGTERM",
                                              Verdict::cancelled,
                                              0,
                                              SIGTERM,
                                              {},
                                              {},
                                              Verdict::cancelled,
                                              Type::signal,
                                              SIGTERM,
                                              SIGTERM,
                                              kNone,
                                              "",
                                              ""},
                                         Case{"cancelled, then exit 3",
                                              Verdict::cancelled,
                                              3,
                                              0,
                                              {},
                                              {},
                                              Verdict::cancelled,
                                              Type::exit,
                                              3,
                                              0,
                                              3,
                                              "",
                                              ""},
                                         Case{"cancelled, then SIGXCPU", Verdict::cancelled, 0,
                                              SIGXCPU, kCpu, used(9s, 9s), Verdict::cancelled,
                                              Type::signal, SIGXCPU, SIGXCPU, kNone, "", ""},
                                         Case{"denied",
                                              Verdict::denied,
                                              0,
                                              SIGSYS,
                                              {},
                                              {},
                                              Verdict::denied,
                                              Type::signal,
                                              SIGSYS,
                                              SIGSYS,
                                              kNone,
                                              "",
                                              ""}));

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
