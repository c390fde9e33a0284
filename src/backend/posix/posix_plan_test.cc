// The plan of the posix backend is what it does, and is refused as a run is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cordon/manager.h"

namespace cordon::posix {
namespace {

using testing::HasSubstr;

std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> all;
  for (const PlanStep& step : plan.steps) all.push_back(step.name);
  return all;
}

TEST(PosixPlan, HasTheStepsInTheirOrder) {
  const auto manager = posix_manager();
  ASSERT_TRUE(manager);
  Request request{.program = "/bin/sh", .cwd = "/tmp"};
  request.limits.memory_bytes = 4096;
  request.limits.open_files = 16;
  const auto plan = (*manager)->plan(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->backend, "posix");
  EXPECT_THAT(names(*plan), testing::ElementsAre("process group", "streams", "close", "directory",
                                                 "limit", "limit", "signals", "execute"));
  EXPECT_EQ(plan->steps[3].detail, "/tmp");
  EXPECT_EQ(plan->steps[4].detail, "memory 4096");
  EXPECT_EQ(plan->steps.back().detail, "/bin/sh");
  EXPECT_EQ(plan->enforcement.memory.level, Guarantee::Level::partial);
  EXPECT_EQ(plan->enforcement.cpu.level, Guarantee::Level::none);
}

TEST(PosixPlan, UsesTheDefaultLimits) {
  const auto manager = posix_manager();
  ASSERT_TRUE(manager);
  ASSERT_TRUE((*manager)->set_default_limits({.open_files = 7}));
  const auto plan = (*manager)->plan({.program = "/bin/sh"});
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->steps, testing::Contains(PlanStep{"limit", "open_files 7"}));
}

TEST(PosixPlan, OfATerminalHasASession) {
  const auto manager = posix_manager();
  ASSERT_TRUE(manager);
  const auto plan =
      (*manager)->plan({.program = "/bin/sh", .in = Input::pipe(), .terminal = TerminalSize{}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->steps.front().name, "terminal");
}

TEST(PosixPlan, FailsAsTheRunWould) {
  const auto manager = posix_manager();
  ASSERT_TRUE(manager);
  const auto error_of = [&](Request request) {
    const auto plan = (*manager)->plan(request);
    const auto process = (*manager)->create(std::move(request));
    EXPECT_FALSE(process);
    EXPECT_FALSE(plan);
    return plan ? Error{} : plan.error();
  };
  EXPECT_EQ(error_of({}).code, ErrorCode::invalid_argument);
  EXPECT_THAT(error_of({.program = "true", .grants = {Grant::read("/")}}).message,
              HasSubstr("grants"));
  EXPECT_EQ(error_of({.program = "true", .network = Network::host}).code, ErrorCode::unsupported);
  EXPECT_THAT(error_of({.program = "true", .unix_sockets = false}).message, HasSubstr("linux"));
  EXPECT_THAT(error_of({.program = "true", .user = User{}}).message, HasSubstr("user"));
  EXPECT_THAT(error_of({.program = "true", .end_at_process_limit = true}).message,
              HasSubstr("end_at_process_limit"));

  const auto missing = (*manager)->plan({.program = "no-such-program"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace cordon::posix
