// Signals, stopping, descendants.
#include <csignal>
#include <stop_token>

#include "backend/memory/test_support.h"

namespace cordon::memory {
namespace {

TEST(Signals, TermEndsAProgramThatSaysNothingAboutIt) {
  Manager manager;
  const auto process = start(manager, Program().hang());
  ASSERT_TRUE(process->signal(SIGTERM));
  const Outcome outcome = finish(*process);
  EXPECT_EQ(outcome.verdict, Verdict::signaled);
  EXPECT_EQ(outcome.termination.signal, SIGTERM);
}

TEST(Signals, IgnoredSignalDoesNothingAndKillAlwaysWorks) {
  Manager manager;
  const auto process = start(manager, Program().ignore(SIGTERM).ignore(SIGKILL).hang());
  ASSERT_TRUE(process->signal(SIGTERM));
  EXPECT_EQ(process->wait_for(1min).error().code, ErrorCode::timed_out);
  ASSERT_TRUE(process->signal(SIGKILL));
  EXPECT_EQ(finish(*process).termination.signal, SIGKILL);
}

TEST(Signals, HandlerExitsWithItsCode) {
  Manager manager;
  const auto process = start(manager, Program().on_signal(SIGTERM, 3).hang());
  ASSERT_TRUE(process->signal(SIGTERM));
  EXPECT_EQ(finish(*process).exit_code, 3);
}

TEST(Signals, HandlerInterruptsAndTheProgramGoesOn) {
  Manager manager;
  const auto process =
      start(manager, Program().on_signal(SIGUSR1, Program().out("got it")).sleep(10s).out("!"));
  EventStream events = process->events();
  EXPECT_FALSE(process->wait_for(4s));
  ASSERT_TRUE(process->signal(SIGUSR1));
  const Ran ran = read_to_end(std::move(events));
  EXPECT_EQ(ran.out, "got it!");
  EXPECT_EQ(ran.events[0].at, 4s);
  EXPECT_EQ(ran.outcome.wall, 10s);
}

TEST(Signals, ASecondSignalWaitsForTheHandler) {
  Manager manager;
  const auto process = start(
      manager, Program().on_signal(SIGUSR1, Program().out("<").sleep(1s).out(">")).sleep(1min));
  EventStream events = process->events();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(process->signal(SIGUSR1));
  EXPECT_EQ(read_to_end(std::move(events)).out, "<><>");  // as the OS: pending once
}

TEST(Signals, DefaultActionUndoesIgnore) {
  Manager manager;
  const auto process = start(manager, Program().ignore(SIGTERM).default_action(SIGTERM).hang());
  ASSERT_TRUE(process->signal(SIGTERM));
  EXPECT_EQ(finish(*process).termination.signal, SIGTERM);
}

TEST(Signals, HarmlessOnesAreIgnoredByDefault) {
  Manager manager;
  const auto process = start(manager, Program().sleep(1s));
  for (const int signal : {SIGCHLD, SIGURG, SIGWINCH, SIGCONT})
    ASSERT_TRUE(process->signal(signal));
  EXPECT_EQ(finish(*process).exit_code, 0);
}

TEST(Signals, StopPausesAndContinueResumes) {
  Manager manager;
  const auto process = start(manager, Program().use_cpu(2s).out("done"));
  EXPECT_FALSE(process->wait_for(1s));
  ASSERT_TRUE(process->signal(SIGSTOP));
  EXPECT_FALSE(process->wait_for(10s));
  ASSERT_TRUE(process->signal(SIGCONT));
  const Outcome outcome = finish(*process);
  EXPECT_EQ(outcome.wall, 12s);
  EXPECT_EQ(outcome.usage.cpu_user, 2s);
}

TEST(Signals, AStoppedProgramTakesSignalsWhenItGoesOn) {
  Manager manager;
  const auto process = start(manager, Program().on_signal(SIGTERM, 9).hang());
  ASSERT_TRUE(process->signal(SIGSTOP));
  ASSERT_TRUE(process->signal(SIGTERM));
  EXPECT_FALSE(process->wait_for(1s));
  ASSERT_TRUE(process->signal(SIGCONT));
  EXPECT_EQ(finish(*process).exit_code, 9);
}

TEST(Signals, NoSuchSignalIsInvalid) {
  Manager manager;
  const auto process = start(manager, Program().hang());
  for (const int signal : {-1, 0, 65}) {
    EXPECT_EQ(process->signal(signal).error().code, ErrorCode::invalid_argument);
  }
}

TEST(Stopping, NotStartedAndEndedAreWrongStates) {  // C35, C36
  Manager manager;
  manager.add("program", Program());
  const auto process = *manager.create("program", {});
  EXPECT_EQ(process->kill().error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->signal(SIGTERM).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->wait().error().code, ErrorCode::wrong_state);
  ASSERT_TRUE(process->start());
  (void)finish(*process);
  EXPECT_EQ(process->terminate(1s).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->signal(SIGTERM).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->start().error().code, ErrorCode::wrong_state);
}

TEST(Stopping, TerminateKillsAfterTheGrace) {  // C33
  Manager manager;
  const auto process = start(manager, Program().ignore(SIGTERM).hang());
  ASSERT_TRUE(process->terminate(3s));
  const Outcome outcome = finish(*process);
  EXPECT_EQ(outcome.verdict, Verdict::cancelled);
  EXPECT_EQ(outcome.termination.signal, SIGKILL);
  EXPECT_EQ(outcome.wall, 3s);
}

TEST(Stopping, AProgramThatObeysKeepsItsExitCode) {
  Manager manager;
  const auto process = start(manager, Program().on_signal(SIGTERM, 7).hang());
  ASSERT_TRUE(process->terminate(3s));
  const Outcome outcome = finish(*process);
  EXPECT_EQ(outcome.verdict, Verdict::cancelled);
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.wall, 0s);
}

TEST(Stopping, AStoppedProgramHearsTerminate) {
  Manager manager;
  const auto process = start(manager, Program().hang());
  ASSERT_TRUE(process->signal(SIGSTOP));
  ASSERT_TRUE(process->terminate(5s));
  EXPECT_EQ(finish(*process).termination.signal, SIGTERM);
}

TEST(Stopping, KillHurriesATerminationUnderWay) {
  Manager manager;
  const auto process = start(manager, Program().ignore(SIGTERM).hang());
  ASSERT_TRUE(process->terminate(1h));
  EXPECT_FALSE(process->wait_for(1s));
  ASSERT_TRUE(process->kill());
  EXPECT_EQ(finish(*process).wall, 1s);
}

TEST(Stopping, StopTokenCancels) {  // C37
  Manager manager;
  std::stop_source source;
  Request request;
  request.cancel = source.get_token();
  request.grace = 2s;
  const auto process = start(manager, Program().ignore(SIGTERM).hang(), request);
  EXPECT_FALSE(process->wait_for(1s));
  source.request_stop();
  const Outcome outcome = finish(*process);
  EXPECT_EQ(outcome.verdict, Verdict::cancelled);
  EXPECT_EQ(outcome.wall, 3s);
}

TEST(Stopping, ATokenStoppedBeforehandCancelsAtOnce) {
  Manager manager;
  std::stop_source source;
  source.request_stop();
  Request request;
  request.cancel = source.get_token();
  EXPECT_EQ(run(manager, Program().exit(0), request).outcome.verdict, Verdict::cancelled);
}

TEST(Descendants, AreKilledWhenTheirLeaderEnds) {
  Manager manager;
  const Ran ran =
      run(manager,
          Program().fork(Program().ignore(SIGTERM).sleep(2s).out("late")).sleep(1s).out("leader"));
  EXPECT_EQ(ran.out, "leader");
  EXPECT_EQ(ran.outcome.wall, 1s);
  EXPECT_EQ(manager.live_programs(), 0U);
}

TEST(Descendants, RunBesideTheirParent) {
  const Ran ran = run(Program().fork(Program().sleep(1s).out("child ")).sleep(2s).out("parent"));
  EXPECT_EQ(ran.out, "child parent");
  EXPECT_EQ(ran.outcome.usage.processes_peak, 2U);
}

TEST(Descendants, ParentCanWaitForThem) {
  const Ran ran = run(Program()
                          .fork(Program().fork(Program().sleep(9s)).sleep(2s).out("1"))
                          .fork(Program().sleep(3s).out("2"))
                          .wait_children()
                          .out("3"));
  EXPECT_EQ(ran.out, "123");
  EXPECT_EQ(ran.outcome.wall, 3s);
}

TEST(Descendants, TheWholeTreeIsStopped) {  // C20, C34
  Manager manager;
  const auto process =
      start(manager, Program()
                         .fork(Program().on_signal(SIGTERM, Program().out("c")).hang())
                         .on_signal(SIGTERM, Program().sleep(1s).out("l").exit(0))
                         .hang());
  EventStream events = process->events();
  ASSERT_TRUE(process->terminate(5s));
  EXPECT_EQ(read_to_end(std::move(events)).out, "cl");
  EXPECT_EQ(manager.live_programs(), 0U);
}

TEST(Descendants, ASignalForTheProgramAloneSparesThem) {
  Manager manager;
  const Program child = Program().on_signal(SIGINT, Program().out("child")).hang();
  const Program parent =
      Program().fork(child).on_signal(SIGINT, Program().out("parent ")).sleep(1s);
  auto process = start(manager, parent);
  EventStream events = process->events();
  ASSERT_TRUE(process->signal(SIGINT));
  EXPECT_EQ(read_to_end(std::move(events)).out, "parent ");

  process = start(manager, parent);
  events = process->events();
  ASSERT_TRUE(process->signal(SIGINT, Reach::tree));
  EXPECT_EQ(read_to_end(std::move(events)).out.size(), std::string("parent child").size());
}

TEST(Descendants, InheritIgnoredSignals) {
  Manager manager;
  const auto process = start(
      manager, Program().ignore(SIGINT).fork(Program().sleep(1s).out("alive")).wait_children());
  EventStream events = process->events();
  ASSERT_TRUE(process->signal(SIGINT, Reach::tree));
  EXPECT_EQ(read_to_end(std::move(events)).out, "alive");
}

}  // namespace
}  // namespace cordon::memory
