// The one-shot sandbox on scripted programs: no process is made here (C25).
#include "cordon/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "cordon/memory.h"

namespace cordon {
namespace {

using namespace std::chrono_literals;
using testing::StartsWith;

constexpr std::uint64_t kMebibyte = 1024 * 1024;

TEST(Sandbox, RunsTheProgramOfItsRequest) {  // C134
  memory::Manager manager;
  manager.add("greet", memory::Program().out("hello\n").err("oops\n").exit(3));
  Request request;
  request.program = "greet";
  Sandbox sandbox(manager, request);  // C22
  const Outcome outcome = sandbox.run();
  EXPECT_EQ(outcome.verdict, Verdict::exited);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "hello\n");
  EXPECT_EQ(outcome.err, "oops\n");
  EXPECT_EQ(outcome.backend, "memory");
}

TEST(Sandbox, ExecutesOtherProgramsUnderTheSameRequest) {  // C23
  memory::Manager manager;
  manager.add("show", memory::Program().step([](memory::Self& self) {
    self.out(self.args().at(0) + " " + self.request().env.at(0).value);
  }));
  Request request;
  request.env = {{"COLOR", "blue"}};
  Sandbox sandbox(manager, request);
  EXPECT_EQ(sandbox.execute("show", {"one"}).out, "one blue");
  EXPECT_EQ(sandbox.execute("show", {"two"}).out, "two blue");
  EXPECT_EQ(sandbox.request().program, "");
}

TEST(Sandbox, WhatCannotBeStartedIsAnOutcome) {  // C23, C151
  memory::Manager manager;
  Sandbox sandbox(manager, {});
  const Outcome missing = sandbox.execute("no-such-program");
  EXPECT_EQ(missing.verdict, Verdict::failed_to_start);
  ASSERT_TRUE(missing.error);
  EXPECT_EQ(missing.error->code, ErrorCode::not_found);
  EXPECT_THAT(missing.error->message, StartsWith("failed to start process: "));

  const Outcome empty = sandbox.run();
  EXPECT_EQ(empty.verdict, Verdict::failed_to_start);
  EXPECT_EQ(empty.error->code, ErrorCode::invalid_argument);
}

TEST(Sandbox, TellsOfATimeout) {  // C138, C151
  memory::Manager manager;
  manager.add("hang", memory::Program().hang());
  Request request;
  request.program = "hang";
  request.timeout = 2s;
  const Outcome outcome = Sandbox(manager, request).run();
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_FALSE(outcome.memory_exceeded);
  EXPECT_GE(outcome.wall, 2s);
  EXPECT_EQ(exit_status(outcome), 5);
}

TEST(Sandbox, TellsOfMemoryExceeded) {  // C137, C148, C151
  memory::Manager manager;
  manager.add("grow", memory::Program().use_memory(60 * kMebibyte));
  manager.add("fit", memory::Program().use_memory(40 * kMebibyte));
  Request request;
  request.limits.memory_bytes = 50 * kMebibyte;
  Sandbox sandbox(manager, request);
  EXPECT_TRUE(sandbox.execute("grow").memory_exceeded);
  EXPECT_FALSE(sandbox.execute("fit").memory_exceeded);
}

TEST(Sandbox, PerCentOfACoreHoldAProgramBack) {  // C136
  memory::Manager manager;
  manager.add("compute", memory::Program().use_cpu(1s));
  Request request;
  request.program = "compute";
  request.limits.cpu_millicores = cpu_percent(50);
  EXPECT_GE(Sandbox(manager, request).run().wall, 2s);
  static_assert(cpu_percent(100) == 1000);
}

TEST(Sandbox, RefusesMoreProcessesThanAllowed) {  // C145
  memory::Manager manager;
  manager.add("crowd",
              memory::Program().fork(10, memory::Program().sleep(1s), memory::Program().exit(9)));
  Request request;
  request.limits.processes = 4;
  const Outcome outcome = Sandbox(manager, request).execute("crowd");
  EXPECT_EQ(outcome.exit_code, 9);
  ASSERT_FALSE(outcome.limits_hit.empty());
  EXPECT_EQ(outcome.limits_hit.front().name, "processes");
}

TEST(Sandbox, IsCancelledFromOutside) {  // C134
  memory::Manager manager;
  std::stop_source stop;
  manager.add("wait",
              memory::Program().sleep(1s).step([&](memory::Self&) { stop.request_stop(); }).hang());
  Request request;
  request.program = "wait";
  request.cancel = stop.get_token();
  EXPECT_EQ(Sandbox(manager, request).run().verdict, Verdict::cancelled);
}

TEST(Sandbox, ReadsItsInput) {  // C143
  memory::Manager manager;
  manager.add("cat", memory::Program().echo());
  Request request;
  request.program = "cat";
  request.in = Input::bytes("from outside");
  EXPECT_EQ(Sandbox(manager, request).run().out, "from outside");
}

TEST(Sandbox, IsNotMadeForARequestThatCannotRun) {  // C133
  Request request;
  request.limits.memory_bytes = 0;
  const auto sandbox = Sandbox::make(request);
  ASSERT_FALSE(sandbox);
  EXPECT_EQ(sandbox.error().code, ErrorCode::invalid_argument);
}

TEST(Sandbox, CanBeMovedWithItsManager) {
  memory::Manager manager;
  manager.add("greet", memory::Program().out("hello"));
  Sandbox first(manager, {});
  Sandbox second = std::move(first);
  EXPECT_EQ(second.execute("greet").out, "hello");
  EXPECT_EQ(&second.manager(), &manager);
}

}  // namespace
}  // namespace cordon
