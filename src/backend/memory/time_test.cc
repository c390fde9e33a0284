// Virtual time, determinism, the process table.
#include <csignal>

#include "backend/memory/test_support.h"

namespace cordon::memory {
namespace {

TimePoint at(Duration since_start) { return TimePoint(since_start); }

TEST(Time, MovesOnlyWhenTheTestSaysSo) {
  Manager manager(Options{.self_advancing = false});
  const auto process = start(manager, Program().sleep(10s).exit(1));
  manager.advance(9s);
  EXPECT_TRUE(process->running());
  manager.advance(1s);
  EXPECT_FALSE(process->running());
  EXPECT_EQ(process->exit_code(), 1);
}

TEST(Time, AdvanceDoesWhatIsDueOnTheWayInOrder) {
  Manager manager(Options{.self_advancing = false});
  std::string order;
  const auto note = [&](char what) {
    return Program().step([&order, what](Self&) { order += what; });
  };
  manager.add("a", Program().sleep(2s).then(note('a')).sleep(2s).then(note('A')));
  manager.add("b", Program().sleep(1s).then(note('b')).sleep(2s).then(note('B')));
  const auto a = start(manager, request_for("a"));
  const auto b = start(manager, request_for("b"));
  manager.advance(1h);
  EXPECT_EQ(order, "baBA");
  EXPECT_EQ(manager.clock().now(), at(1h));
}

TEST(Time, AdvanceToNextTellsWhenNothingIsDue) {
  Manager manager(Options{.self_advancing = false});
  EXPECT_FALSE(manager.advance_to_next());
  const auto process = start(manager, Program().sleep(3s));
  EXPECT_TRUE(manager.advance_to_next());
  EXPECT_EQ(manager.clock().now(), at(3s));
  EXPECT_FALSE(process->running());
  EXPECT_FALSE(manager.advance_to_next());  // the deadline's timer is released, too (C31)
}

TEST(Time, DoesNotGoBeyondTheCallersDeadline) {
  Manager manager;
  const auto process = start(manager, Program().sleep(1h));
  EXPECT_EQ(process->wait_for(10s).error().code, ErrorCode::timed_out);
  EXPECT_EQ(manager.clock().now(), at(10s));
}

TEST(Time, SleepingLetsProgramsRun) {
  Manager manager(Options{.start = WallTime(1h)});
  const auto process = start(manager, Program().sleep(1s));
  manager.clock().sleep_until(at(5s));
  EXPECT_FALSE(process->running());
  EXPECT_EQ(manager.clock().now(), at(5s));
  EXPECT_EQ(manager.clock().wall_now(), WallTime(1h + 5s));
  manager.clock().sleep_until(at(2s));
  EXPECT_EQ(manager.clock().now(), at(5s));
}

TEST(Time, LookingChangesNothing) {
  Manager manager;
  const auto process = start(manager, Program());
  EXPECT_TRUE(process->running());
  EXPECT_FALSE(process->outcome());
  (void)process->status();
  EXPECT_TRUE(process->running());
}

TEST(Time, AThousandHoursPassInNoTime) {
  Manager manager;
  Request request;
  request.timeout = kNoTimeout;
  const auto process = start(manager, Program().repeat(1000, Program().sleep(1h)), request);
  EXPECT_EQ(finish(*process).wall, 1000h);
}

std::vector<Event> busy_run() {
  Manager manager;
  const Program chatter = Program().repeat(20, Program().sleep(7ms).out("c").err("d"));
  Request request;
  request.in = Input::bytes("one\ntwo\nthree\n");
  request.out = Output::events({.mode = OutputMode::line});
  request.timeout = 100ms;
  request.grace = 20ms;
  return run(manager,
             Program()
                 .fork(chatter)
                 .fork(chatter)
                 .on_signal(SIGTERM, Program().out("term\n").sleep(5ms).out("more\n"))
                 .each_line([](Self& self, std::string_view line) {
                   self.sleep(7ms).out(std::string(line) + "\n").use_cpu(3ms);
                 })
                 .flood(200'000)
                 .hang(),
             request)
      .events;
}

TEST(Determinism, TheSameScriptGivesTheSameEvents) {
  const auto first = busy_run();
  const auto second = busy_run();
  ASSERT_GT(first.size(), 100U);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].kind, second[i].kind);
    EXPECT_EQ(first[i].sequence, second[i].sequence);
    EXPECT_EQ(first[i].at, second[i].at);
    EXPECT_EQ(first[i].data.view(), second[i].data.view());
  }
  EXPECT_EQ(first.back().outcome->verdict, Verdict::timeout);
}

TEST(Table, RunningProcessesAreKeptOthersOnlyWhileHeld) {  // C13, C14
  Manager manager;
  auto created = *manager.create("x", {});
  auto running = start(manager, Program().hang());
  const ProcessId id = running->id();
  EXPECT_EQ(manager.list(), (std::vector<std::shared_ptr<Process>>{created, running}));
  created.reset();
  running.reset();
  ASSERT_EQ(manager.list().size(), 1U);
  running = *manager.get(id);
  ASSERT_TRUE(running->kill());
  EXPECT_TRUE(manager.get(id));
  running.reset();
  EXPECT_EQ(manager.get(id).error().code, ErrorCode::not_found);
  EXPECT_TRUE(manager.list().empty());
}

TEST(Table, IdsAndPidsAreNotReused) {
  Manager manager;
  manager.add("x", Program());
  const auto first = start(manager, request_for("x"));
  const auto id = first->id();
  const auto pid = first->os_pid();
  EXPECT_TRUE(pid);
  (void)finish(*first);
  EXPECT_FALSE(first->os_pid());
  const auto second = start(manager, request_for("x"));
  EXPECT_NE(second->id(), id);
  EXPECT_NE(second->os_pid(), pid);
}

TEST(Table, TheManagersEndEndsEveryProcess) {
  std::shared_ptr<Process> process;
  std::shared_ptr<Process> unstarted;
  {
    Manager manager;
    process = start(manager, Program().ignore(SIGTERM).fork(Program().hang()).hang());
    unstarted = *manager.create("program", {});
  }
  EXPECT_FALSE(process->running());
  EXPECT_EQ(finish(*process).verdict, Verdict::cancelled);
  EXPECT_EQ(unstarted->start().error().code, ErrorCode::wrong_state);
}

TEST(Table, InvalidRequestsAreRefused) {
  Manager manager;
  EXPECT_EQ(manager.create("", {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(manager.create("x", {std::string("a\0b", 3)}).error().code,
            ErrorCode::invalid_argument);
}

TEST(Capabilities, EverythingIsEnforcedBySimulation) {
  const Manager manager;
  EXPECT_EQ(manager.capabilities().backend, "memory");
  EXPECT_EQ(describe(manager.capabilities().enforcement.memory), "enforced by simulation");
}

}  // namespace
}  // namespace cordon::memory
