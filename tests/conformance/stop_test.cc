// Signals, deadlines, cancellation: who ends a run, and what the verdict says.
#include <csignal>
#include <thread>

#include "conformance/world.h"
#include "support/slowness.h"

namespace cordon::conformance {
namespace {

using namespace std::chrono_literals;

class Stop : public Conformance {};

TEST_P(Stop, SignalReachesTheProgram) {  // C3
  auto [process, events] = start_until_ready(world().catches_term(7));
  ASSERT_TRUE(process->signal(SIGTERM));
  const auto outcome = process->wait();
  EXPECT_EQ(outcome->verdict, Verdict::exited);
  EXPECT_EQ(outcome->exit_code, 7);
}

TEST_P(Stop, SignalFromOutsideIsNoActionOfCordon) {
  auto [process, events] = start_until_ready(world().hangs());
  ASSERT_TRUE(process->signal(SIGKILL));
  EXPECT_EQ(process->wait()->verdict, Verdict::signaled);
}

TEST_P(Stop, UnknownSignalIsRefused) {
  auto [process, events] = start_until_ready(world().hangs());
  EXPECT_EQ(process->signal(0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(process->signal(-9).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(process->signal(1000).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(process->running());
}

TEST_P(Stop, NothingIsSentToAnEndedProcess) {  // C36
  const auto process = start(world().exits(0));
  ASSERT_TRUE(process->wait());
  EXPECT_EQ(process->signal(SIGTERM).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->terminate(1s).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->kill().error().code, ErrorCode::wrong_state);
}

TEST_P(Stop, TerminateLetsTheProgramCleanUp) {  // C33
  auto [process, events] = start_until_ready(world().catches_term(3));
  ASSERT_TRUE(process->terminate(60s));
  const auto outcome = process->wait();
  EXPECT_EQ(outcome->verdict, Verdict::cancelled);
  EXPECT_EQ(outcome->exit_code, 3) << "its own code is kept";
  EXPECT_EQ(exit_status(*outcome), 124);  // C54
}

TEST_P(Stop, TerminateKillsWhoIgnoresIt) {  // C33
  auto [process, events] = start_until_ready(world().ignores_term());
  ASSERT_TRUE(process->terminate(30ms));
  const auto outcome = process->wait();
  EXPECT_EQ(outcome->verdict, Verdict::cancelled);
  EXPECT_EQ(outcome->termination.signal, SIGKILL);
}

TEST_P(Stop, SecondTerminateCanOnlyHurry) {
  auto [process, events] = start_until_ready(world().ignores_term());
  ASSERT_TRUE(process->terminate(1h));
  ASSERT_TRUE(process->terminate(2h));
  ASSERT_TRUE(process->kill());
  const auto outcome = process->wait();
  EXPECT_EQ(outcome->termination.signal, SIGKILL);
  EXPECT_LT(outcome->wall, 1h);
}

TEST_P(Stop, KillReachesStoppedProgram) {
  auto [process, events] = start_until_ready(world().stops_itself());
  ASSERT_TRUE(process->kill());
  EXPECT_EQ(process->wait()->termination.signal, SIGKILL);
}

TEST_P(Stop, TerminateReachesStoppedProgram) {
  auto [process, events] = start_until_ready(world().stops_itself());
  ASSERT_TRUE(process->terminate(60s));
  const auto outcome = process->wait();
  EXPECT_EQ(outcome->verdict, Verdict::cancelled);
  EXPECT_LT(outcome->wall, 30s);
}

TEST_P(Stop, TimeoutEndsTheRun) {  // C32 C53 C78
  Request request = world().hangs();
  request.timeout = 60ms;
  const auto process = start(std::move(request));
  const auto outcome = process->wait();
  EXPECT_EQ(outcome->verdict, Verdict::timeout);
  EXPECT_TRUE(outcome->timed_out);
  EXPECT_EQ(outcome->termination.type, Termination::Type::timeout);
  EXPECT_EQ(outcome->termination.code, 5);
  EXPECT_EQ(outcome->termination.signal, SIGTERM);
  EXPECT_GE(outcome->wall, 60ms);
  EXPECT_EQ(exit_status(*outcome), 5);
  ASSERT_TRUE(outcome->limit);
  EXPECT_EQ(outcome->limit->name, "timeout");
  EXPECT_EQ(outcome->limit->limit, 60U);
  EXPECT_THAT(outcome->hint, testing::HasSubstr("--timeout"));
}

TEST_P(Stop, TimeoutNeedsNobodyWaiting) {  // C32
  Request request = world().hangs();
  request.timeout = 30ms;
  const auto process = start(std::move(request));
  EventStream events = process->events();
  EXPECT_EQ(collect(events).outcome->verdict, Verdict::timeout);
}

TEST_P(Stop, TimeoutWinsOverHowTheProgramThenExits) {
  Request request = world().catches_term(0);
  request.timeout = GetParam().begins + support::enough(100ms);
  auto [process, events] = start_until_ready(std::move(request));
  const auto outcome = process->wait();
  EXPECT_EQ(outcome->verdict, Verdict::timeout);
  EXPECT_EQ(outcome->termination.code, 5);
  EXPECT_EQ(outcome->exit_code, 0);
}

TEST_P(Stop, TimeoutKillsAfterTheGrace) {  // C33
  Request request = world().ignores_term();
  request.timeout = GetParam().begins + support::enough(100ms);
  request.grace = 40ms;
  auto [process, events] = start_until_ready(std::move(request));
  const auto outcome = process->wait();
  EXPECT_EQ(outcome->verdict, Verdict::timeout);
  EXPECT_EQ(outcome->termination.signal, SIGKILL);
  EXPECT_GE(outcome->wall, support::enough(100ms) + 40ms);
}

TEST_P(Stop, ShortRunIsNotTouchedByItsTimeout) {
  Request request = world().exits(0);
  request.timeout = 1h;
  EXPECT_EQ(start(std::move(request))->wait()->verdict, Verdict::exited);
}

TEST_P(Stop, StopTokenCancels) {  // C37
  std::stop_source source;
  Request request = world().hangs();
  request.cancel = source.get_token();
  auto [process, events] = start_until_ready(std::move(request));
  source.request_stop();
  EXPECT_EQ(process->wait()->verdict, Verdict::cancelled);
}

TEST_P(Stop, StopRequestedBeforeTheStartCancels) {  // C37
  std::stop_source source;
  source.request_stop();
  Request request = world().hangs();
  request.cancel = source.get_token();
  EXPECT_EQ(start(std::move(request))->wait()->verdict, Verdict::cancelled);
}

TEST_P(Stop, StopRequestedAfterTheEndChangesNothing) {
  std::stop_source source;
  Request request = world().exits(0);
  request.cancel = source.get_token();
  const auto process = start(std::move(request));
  ASSERT_TRUE(process->wait());
  source.request_stop();
  EXPECT_EQ(process->outcome()->verdict, Verdict::exited);
}

TEST_P(Stop, WaitDoesNotBlockSignal) {  // mistake: wait() holding the lock that signal() needs
  Request request = world().catches_term(9);
  request.timeout = kNoTimeout;  // virtual time must not run ahead of the signal
  auto [process, events] = start_until_ready(std::move(request));
  std::atomic<int> codes{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&, p = process] { codes += p->wait()->exit_code.value_or(0); });
  }
  while (process->running()) {
    (void)process->signal(SIGTERM);
    std::this_thread::yield();
  }
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(codes, 36);
}

TEST_P(Stop, TreeIsGoneWithItsLeader) {  // C20 C34
  Request request = world().stubborn_tree();
  request.timeout = GetParam().begins + support::enough(200ms);
  request.grace = 20ms;
  auto [process, events] = start_until_ready(std::move(request));
  EXPECT_EQ(process->wait()->verdict, Verdict::timeout);
}

TEST_P(Stop, ChildLeftBehindDoesNotKeepTheRunAlive) {
  const auto process = start(world().leaves_child());
  EventStream events = process->events();
  const Collected all = collect(events);
  EXPECT_EQ(all.outcome->verdict, Verdict::exited);
  EXPECT_LT(all.outcome->wall, 30s);
  EXPECT_THAT(all.out, testing::StartsWith("child "));
}

TEST_P(Stop, ProcessOutlivesTheThreadThatStartedIt) {
  std::shared_ptr<Process> process;
  std::optional<EventStream> events;
  std::thread([&] {
    auto started = start_until_ready(world().catches_term(4));
    process = started.process;
    events.emplace(std::move(started.events));
  }).join();
  EXPECT_TRUE(process->running());
  ASSERT_TRUE(process->signal(SIGTERM));
  EXPECT_EQ(process->wait()->exit_code, 4);
}

CORDON_CONFORMANCE_SUITE(Stop);

}  // namespace
}  // namespace cordon::conformance
