// The verdict, from what is known of an ending.
#include "outcome/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

#include "outcome/decide_case.h"

namespace cordon::outcome {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;
using Type = Termination::Type;

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

}  // namespace
}  // namespace cordon::outcome
