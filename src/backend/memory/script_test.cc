// What each step of a script does, seen from outside.
#include <cerrno>
#include <csignal>
#include <stdexcept>

#include "backend/memory/test_support.h"

namespace cordon::memory {
namespace {

TEST(Script, EmptyProgramExitsWithZeroAtOnce) {
  const Ran ran = run(Program());
  EXPECT_EQ(ran.outcome.verdict, Verdict::exited);
  EXPECT_EQ(ran.outcome.exit_code, 0);
  EXPECT_EQ(ran.outcome.wall, 0s);
  EXPECT_EQ(ran.outcome.backend, "memory");
}

TEST(Script, PlanSimulatesTheProgram) {
  const Manager manager;
  const auto plan = manager.plan({.program = "worker"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->backend, "memory");
  ASSERT_EQ(plan->steps.size(), 1U);
  EXPECT_EQ(plan->steps[0], (PlanStep{"simulate", "the script added for worker"}));
  EXPECT_FALSE(manager.plan({}));
}

TEST(Script, ExitCodeIsPassedOn) {  // C55
  EXPECT_EQ(run(Program().exit(42)).outcome.exit_code, 42);
  EXPECT_EQ(run(Program().exit(256 + 7)).outcome.exit_code, 7);
}

TEST(Script, StepsAfterExitAreNotDone) { EXPECT_EQ(run(Program().exit(1).out("never")).out, ""); }

TEST(Script, DyingOfASignalIsSignaled) {  // C56
  const Ran ran = run(Program().ignore(SIGSEGV).die(SIGSEGV));
  EXPECT_EQ(ran.outcome.verdict, Verdict::signaled);
  EXPECT_EQ(ran.outcome.termination.signal, SIGSEGV);
  EXPECT_EQ(ran.outcome.exit_code, std::nullopt);
}

TEST(Script, BytesComeAtTheirTimes) {
  const Ran ran = run(Program().out("a").sleep(2s).err("b").sleep(500ms).out("c").exit(3));
  ASSERT_EQ(ran.events.size(), 4U);
  EXPECT_EQ(ran.events[0].at, 0s);
  EXPECT_EQ(ran.events[1].kind, Event::Kind::err);
  EXPECT_EQ(ran.events[1].at, 2s);
  EXPECT_EQ(ran.events[2].at, 2500ms);
  EXPECT_EQ(ran.events[3].kind, Event::Kind::exit);
  EXPECT_EQ(ran.outcome.wall, 2500ms);
  EXPECT_EQ(ran.outcome.output_bytes, 3U);
}

TEST(Script, RepeatAndThenDoTheirSteps) {
  const Ran ran = run(Program()
                          .repeat(3, Program().out("x").sleep(1s))
                          .repeat(0, Program().out("no"))
                          .then(Program().out("y")));
  EXPECT_EQ(ran.out, "xxxy");
  EXPECT_EQ(ran.outcome.wall, 3s);
}

TEST(Script, ForeverEndsWithTheTimeoutEvenIfARoundTakesNoTime) {
  Request request;
  request.timeout = 10ms;
  const Ran ran = run(Program().forever(Program().out(".")), request);
  EXPECT_EQ(ran.outcome.verdict, Verdict::timeout);
  EXPECT_EQ(ran.out, "..........");
}

TEST(Script, FunctionsSeeTheProcessAndSayWhatComesNext) {
  Request request;
  request.args = {"5"};
  request.limits.processes = 9;
  const Ran ran = run(Program()
                          .sleep(1s)
                          .step([](Self& self) {
                            EXPECT_EQ(self.elapsed(), 1s);
                            EXPECT_EQ(self.limits().processes, 9U);
                            EXPECT_GT(self.pid(), 0);
                            self.out(self.request().program + "\n").exit(std::stoi(self.args()[0]));
                          })
                          .out("not reached"),
                      request);
  EXPECT_EQ(ran.out, "program\n");
  EXPECT_EQ(ran.outcome.exit_code, 5);
}

TEST(Script, WhatAFunctionAppendsComesBeforeTheRestOfTheScript) {
  EXPECT_EQ(run(Program().step([](Self& self) { self.out("1").out("2"); }).out("3")).out, "123");
}

TEST(Script, AFunctionThatThrowsAbortsItsProgram) {
  const Ran ran = run(Program().step([](Self&) { throw std::runtime_error("oh no"); }));
  EXPECT_EQ(ran.outcome.termination.signal, SIGABRT);
  EXPECT_NE(ran.err.find("oh no"), std::string::npos);
}

TEST(Script, CopiesOfAProgramAreIndependent) {
  Program base;
  base.out("base");
  Program longer = base;
  longer.out("+");
  EXPECT_EQ(run(base).out, "base");
  EXPECT_EQ(run(longer).out, "base+");
}

TEST(Script, SequenceGivesEachStartItsProgramAndKeepsTheLast) {
  Manager manager;
  manager.add_sequence("worker", {Program().exit(1), Program().exit(2)});
  std::vector<int> codes;
  codes.reserve(3);
  for (int i = 0; i < 3; ++i) {
    codes.push_back(*finish(*start(manager, request_for("worker"))).exit_code);
  }
  EXPECT_EQ(codes, (std::vector<int>{1, 2, 2}));
}

struct Failure {
  Error error;
  Outcome outcome;
};
Failure fail_to_start(Manager& manager, const std::string& program) {
  auto process = manager.create(program, {});
  const auto started = (*process)->start();
  EXPECT_FALSE(started.has_value());
  return {started.error(), finish(**process)};
}

TEST(Script, SecretsAreInTheRequest) {
  Manager manager;
  manager.add("login", Program().step([](Self& self) {
    const Secret& secret = self.request().secrets.at(0);
    self.exit(secret.name == "TOKEN" && secret.value.reveal() == "hunter2" ? 0 : 1);
  }));
  Request request{.program = "login"};
  request.secrets = {{"TOKEN", SecretValue::copy_of("hunter2").value(), Secret::Delivery::fd}};
  const auto process = manager.create(request);
  ASSERT_TRUE(process);
  ASSERT_TRUE((*process)->start());
  EXPECT_EQ((*process)->wait()->exit_code, 0);
  request.secrets.front().value = {};
  EXPECT_FALSE(manager.create(request)) << "an empty one is refused here, too";
}

TEST(Script, UnknownProgramIsNotFound) {  // C52
  Manager manager;
  const auto [error, outcome] = fail_to_start(manager, "no-such-program");
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_EQ(error.stage, "exec");
  EXPECT_EQ(error.os_error, ENOENT);
  EXPECT_NE(error.message.find("no-such-program"), std::string::npos);
  EXPECT_EQ(outcome.verdict, Verdict::failed_to_start);
  EXPECT_EQ(exit_status(outcome), 127);
}

TEST(Script, StartFailsAsScripted) {
  Manager manager;
  manager.add("not-executable", Program().fail_start(EACCES));
  manager.add("no-memory", Program().fail_start(ENOMEM));
  manager.add("no-limit", Program().fail_start(Error{ErrorCode::limit_not_applied, "limit:memory",
                                                     EPERM, "cannot limit memory"}));
  EXPECT_EQ(fail_to_start(manager, "not-executable").error.code, ErrorCode::not_executable);
  EXPECT_EQ(fail_to_start(manager, "no-memory").error.code, ErrorCode::resource_exhausted);
  const auto [error, outcome] = fail_to_start(manager, "no-limit");
  EXPECT_EQ(error.code, ErrorCode::limit_not_applied);
  EXPECT_EQ(error.message, "cannot limit memory");
  EXPECT_EQ(outcome.error->stage, "limit:memory");
}

TEST(Script, AFailedStartLeavesNothingBehind) {
  Manager manager;
  manager.add("broken", Program().fail_start(ENOEXEC));
  (void)fail_to_start(manager, "broken");
  EXPECT_TRUE(manager.list().empty());
  EXPECT_EQ(manager.live_programs(), 0U);
  EXPECT_FALSE(manager.advance_to_next());
}

}  // namespace
}  // namespace cordon::memory
