// From create() to the outcome.
#include <csignal>

#include "conformance/world.h"

namespace cordon::conformance {
namespace {

using namespace std::chrono_literals;

class Lifecycle : public Conformance {};

TEST_P(Lifecycle, ExitCodeIsTheProgramsOwn) {  // C1 C2 C11 C50 C55
  const auto process = start(world().exits(42));
  const auto outcome = process->wait();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::exited);
  EXPECT_EQ(outcome->exit_code, 42);
  EXPECT_EQ(outcome->termination.type, Termination::Type::exit);
  EXPECT_EQ(outcome->termination.code, 42);
  EXPECT_EQ(process->exit_code(), 42);
  EXPECT_EQ(exit_status(*outcome), 42);
  EXPECT_FALSE(outcome->limit);
  EXPECT_FALSE(outcome->timed_out);
}

TEST_P(Lifecycle, SignalDeathIsNoExitCode) {  // C56 C57
  const auto outcome = start(world().dies(SIGKILL))->wait();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::signaled);
  EXPECT_FALSE(outcome->exit_code);
  EXPECT_EQ(outcome->termination.type, Termination::Type::signal);
  EXPECT_EQ(outcome->termination.code, SIGKILL);
  EXPECT_EQ(outcome->termination.signal, SIGKILL);
  EXPECT_EQ(exit_status(*outcome), 128 + SIGKILL);
}

TEST_P(Lifecycle, MissingProgramFailsToStart) {  // C52 C90
  const auto process = create({.program = "no-such-program-anywhere"});
  const auto started = process->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::not_found);
  EXPECT_EQ(started.error().stage, "exec");
  EXPECT_EQ(started.error().os_error, ENOENT);
  EXPECT_FALSE(process->running());
  const auto outcome = process->outcome();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::failed_to_start);
  EXPECT_EQ(exit_status(*outcome), 127);
  const auto waited = process->wait();
  ASSERT_TRUE(waited) << "a failed start is an outcome too";
  EXPECT_EQ(waited->verdict, Verdict::failed_to_start);
}

TEST_P(Lifecycle, FailedStartEndsTheEventStream) {
  const auto process = create({.program = "no-such-program-anywhere"});
  EventStream events = process->events();
  ASSERT_FALSE(process->start());
  const auto exit = events.next();
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->kind, Event::Kind::exit);
  EXPECT_EQ(exit->outcome->verdict, Verdict::failed_to_start);
  EXPECT_FALSE(events.next());
}

TEST_P(Lifecycle, InvalidRequestIsRefused) {
  for (const Request& bad : {
           Request{.program = ""},
           Request{.program = "x", .args = {std::string("a\0b", 3)}},
           Request{.program = "x", .timeout = -1s},
           Request{.program = "x", .limits = {.open_files = 0}},
           Request{.program = "x", .env = {{.name = "A=B", .value = ""}}},
       }) {
    const auto process = manager().create(bad);
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().code, ErrorCode::invalid_argument);
    EXPECT_FALSE(process.error().message.empty());
  }
}

TEST_P(Lifecycle, NothingButSettingsBeforeTheStart) {  // C35
  const auto process = create(world().exits(0));
  EXPECT_FALSE(process->running());
  EXPECT_FALSE(process->exit_code());
  EXPECT_FALSE(process->os_pid());
  EXPECT_FALSE(process->outcome());
  EXPECT_EQ(process->wait().error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->wait_for(1ms).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->signal(SIGTERM).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->terminate(1s).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->kill().error().code, ErrorCode::wrong_state);
  EventStream events = process->events();
  EXPECT_FALSE(events.next());
  EXPECT_EQ(events.next_for(1ms).error().code, ErrorCode::wrong_state);
}

TEST_P(Lifecycle, StartsOnlyOnce) {
  const auto process = start(world().exits(0));
  EXPECT_EQ(process->start().error().code, ErrorCode::wrong_state);
  ASSERT_TRUE(process->wait());
  EXPECT_EQ(process->start().error().code, ErrorCode::wrong_state);
}

TEST_P(Lifecycle, SettingsAreFixedByTheStart) {  // C4 C5 C6 C7 C8
  const auto process = create(world().hangs());
  const Limits limits{.open_files = 64};
  EXPECT_TRUE(process->set_limits(limits));
  EXPECT_EQ(process->limits(), limits);
  EXPECT_TRUE(process->set_stdin(Input::none()));
  EXPECT_TRUE(process->set_stdout(Output::discard()));
  EXPECT_TRUE(process->set_stderr(Output::discard()));
  EXPECT_EQ(process->set_limits({.open_files = 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(process->limits(), limits);
  ASSERT_TRUE(process->start());
  EXPECT_EQ(process->set_limits({}).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->set_stdin({}).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->set_stdout({}).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->set_stderr({}).error().code, ErrorCode::wrong_state);
  EXPECT_TRUE(process->kill());
  EXPECT_TRUE(process->wait());
}

TEST_P(Lifecycle, RunningUntilItEnds) {  // C9 C10
  auto [process, events] = start_until_ready(world().hangs());
  EXPECT_TRUE(process->running());
  EXPECT_TRUE(process->os_pid());
  EXPECT_EQ(process->wait_for(5ms).error().code, ErrorCode::timed_out);
  EXPECT_TRUE(process->running());
  ASSERT_TRUE(process->kill());
  ASSERT_TRUE(process->wait());
  EXPECT_FALSE(process->running());
  EXPECT_FALSE(process->os_pid());
}

TEST_P(Lifecycle, WaitCanBeAskedAgain) {
  const auto process = start(world().exits(3));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(process->wait()->exit_code, 3);
  EXPECT_EQ(process->wait_for(0ms)->exit_code, 3);
}

TEST_P(Lifecycle, StatusTellsWhatIsKnown) {  // C110 C111 C112 C113
  auto process = create(world().hangs());
  EXPECT_FALSE(process->status().start_time);
  const WallTime before = manager().clock().wall_now();
  auto [started, events] = start_until_ready(world().hangs());
  const Status status = started->status();
  EXPECT_EQ(status.id, started->id());
  EXPECT_TRUE(status.running);
  EXPECT_EQ(status.os_pid, started->os_pid());
  ASSERT_TRUE(status.start_time);
  EXPECT_GE(*status.start_time, before);
  EXPECT_LE(*status.start_time, manager().clock().wall_now());
  EXPECT_TRUE(status.memory_bytes);
  ASSERT_TRUE(started->kill());
  ASSERT_TRUE(started->wait());
  EXPECT_FALSE(started->status().running);
  EXPECT_FALSE(started->status().os_pid);
  EXPECT_TRUE(started->status().start_time);
}

TEST_P(Lifecycle, OutcomeNamesItsBackend) {
  const auto process = start(world().exits(0));
  const auto outcome = process->wait();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->backend, manager().capabilities().backend);
  EXPECT_EQ(outcome->id, process->id());
  EXPECT_TRUE(outcome->usage.cpu_user);
  EXPECT_TRUE(outcome->usage.cpu_system);
  EXPECT_GE(outcome->wall, 0ns);
  EXPECT_EQ(outcome->enforcement.timeout.level, Guarantee::Level::enforced);
}

CORDON_CONFORMANCE_SUITE(Lifecycle);

}  // namespace
}  // namespace cordon::conformance
