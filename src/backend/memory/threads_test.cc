// Several threads, callbacks that call back, event loops.
#include <atomic>
#include <csignal>
#include <deque>
#include <functional>
#include <stop_token>
#include <thread>

#include "backend/memory/test_support.h"

namespace cordon::memory {
namespace {

TEST(Threads, AWaiterThatNothingIsDueForIsWokenByAnotherThread) {
  Manager manager;
  Request request;
  request.timeout = kNoTimeout;
  const auto process = start(manager, Program().hang(), request);
  std::jthread killer([&] { ASSERT_TRUE(process->kill()); });
  EXPECT_EQ(finish(*process).verdict, Verdict::cancelled);
}

TEST(Threads, EveryWaiterGetsTheOutcome) {
  Manager manager;
  const auto process = start(manager, Program().sleep(10s).exit(6));
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> waiters;
    waiters.reserve(8);
    for (int i = 0; i < 8; ++i) {
      waiters.emplace_back([&] { right += finish(*process).exit_code == 6 ? 1 : 0; });
    }
  }
  EXPECT_EQ(right, 8);
  EXPECT_EQ(manager.clock().now().time_since_epoch(), 10s);
}

TEST(Threads, AWaiterInManualTimeIsWokenByAdvance) {
  Manager manager(Options{.self_advancing = false});
  const auto process = start(manager, Program().sleep(10s).exit(6));
  std::optional<Outcome> outcome;
  {
    const std::jthread waiter([&] { outcome = finish(*process); });
    manager.advance(10s);
  }
  EXPECT_EQ(outcome->wall, 10s);
}

TEST(Threads, TimeStopsWhereAnotherWaitingThreadHasToWake) {
  Manager manager;
  std::vector<TimePoint> woken(4);
  {
    std::vector<std::jthread> sleepers;
    sleepers.reserve(4);
    for (int i = 0; i < 4; ++i) {
      sleepers.emplace_back([&, i] {
        manager.clock().sleep_until(TimePoint(Duration(i * 1s)));
        woken[static_cast<std::size_t>(i)] = manager.clock().now();
      });
    }
  }
  EXPECT_EQ(manager.clock().now(), TimePoint(3s));
  for (int i = 0; i < 4; ++i) EXPECT_GE(woken[static_cast<std::size_t>(i)], TimePoint(i * 1s));
}

TEST(Threads, SignalGetsThroughToAnEndlessRun) {
  Manager manager;
  Request request;
  request.timeout = kNoTimeout;
  request.out = Output::discard();
  const auto process = start(manager, Program().flood(), request);
  std::jthread killer([&] { ASSERT_TRUE(process->signal(SIGKILL)); });
  EXPECT_EQ(finish(*process).termination.signal, SIGKILL);
}

TEST(Threads, WriterAndReaderMeetInTheMiddle) {
  Manager manager;
  Request request;
  request.in = Input::pipe();
  request.timeout = kNoTimeout;  // nothing is due before the writer comes
  request.event_buffer = 16 * 1024;
  const auto process = start(manager, Program().echo(), request);
  const std::string data(1 << 20, 'x');
  EventStream events = process->events();
  std::jthread writer([&] {
    EXPECT_EQ(process->write_stdin(data), data.size());
    EXPECT_TRUE(process->close_stdin());
  });
  EXPECT_EQ(read_to_end(std::move(events)).out.size(), data.size());
}

TEST(Threads, TwoWritersNeverMixTheirMessages) {
  Manager manager;
  Request request;
  request.in = Input::pipe();
  request.timeout = kNoTimeout;  // nothing is due before the writer comes
  request.event_buffer = 1 << 20;
  request.out = Output::events({.mode = OutputMode::line});
  const auto process = start(manager, Program().echo(), request);
  EventStream events = process->events();
  {
    std::vector<std::jthread> writers;
    writers.reserve(2);
    for (const char c : {'a', 'b'}) {
      writers.emplace_back(
          [&, c] { EXPECT_TRUE(process->write_stdin(std::string(100'000, c) + "\n")); });
    }
    for (int i = 0; i < 2; ++i) {
      const auto line = events.next();
      ASSERT_TRUE(line);
      EXPECT_EQ(line->data.view().find_first_not_of(line->data.view()[0]), std::string_view::npos);
    }
  }
  ASSERT_TRUE(process->kill());
}

TEST(Threads, ManyThreadsRunTheirOwnProcesses) {
  Manager manager;
  manager.add("work", Program().out("x").sleep(1ms).use_cpu(1ms).exit(2));
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 200; ++n) {
          right +=
              read_to_end(start(manager, request_for("work"))->events()).outcome.exit_code == 2;
        }
      });
    }
  }
  EXPECT_EQ(right, 800);
  EXPECT_EQ(manager.live_programs(), 0U);
}

TEST(Threads, CancellationFromAnotherThread) {
  Manager manager;
  for (int i = 0; i < 50; ++i) {
    std::stop_source source;
    Request request;
    request.cancel = source.get_token();
    request.timeout = kNoTimeout;
    const auto process = start(manager, Program().hang(), request);
    const std::jthread canceller([&] { source.request_stop(); });
    EXPECT_EQ(finish(*process).verdict, Verdict::cancelled);
  }
}

TEST(Callbacks, AFunctionMayUseTheLibrary) {
  Manager manager;
  manager.add("helper", Program().sleep(1s).exit(8));
  const Ran ran = run(manager, Program().step([&](Self& self) {
    const auto helper = *manager.create("helper", {});
    EXPECT_TRUE(helper->start());
    self.exit(*finish(*helper).exit_code);
  }));
  EXPECT_EQ(ran.outcome.exit_code, 8);
  EXPECT_EQ(ran.outcome.wall, 1s);
}

TEST(Callbacks, AFunctionMayKillItsOwnProcess) {
  Manager manager;
  std::shared_ptr<Process> process;
  process = start(manager, Program().step([&](Self& self) {
    self.out("never");
    EXPECT_TRUE(process->kill());
  }));
  const Ran ran = read_to_end(process->events());
  EXPECT_EQ(ran.outcome.verdict, Verdict::cancelled);
  EXPECT_EQ(ran.out, "");
}

TEST(Callbacks, NotifyIsCalledOnceWhenThereIsSomethingToRead) {
  Manager manager(Options{.self_advancing = false});
  const auto process = start(manager, Program().sleep(1s).out("a").out("b"));
  EventStream events = process->events();
  int calls = 0;
  events.notify([&] {
    ++calls;
    EXPECT_EQ(events.next_for(0s).value()->data.view(), "a");
  });
  EXPECT_EQ(calls, 0);
  manager.advance(2s);
  EXPECT_EQ(calls, 1);
  events.notify([&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(Callbacks, NotifyCanBeWithdrawn) {
  Manager manager(Options{.self_advancing = false});
  const auto process = start(manager, Program().sleep(1s).out("a"));
  EventStream events = process->events();
  events.notify([] { FAIL(); });
  events.notify({});
  manager.advance(2s);
  EXPECT_FALSE(process->running());
}

// What an event loop does: never waits, only asks to be told.
TEST(Callbacks, NotifyLetsTimePassForAnEventLoop) {
  Manager manager;
  const auto process = start(manager, Program().sleep(1s).out("a").sleep(1s).out("b"));
  EventStream events = process->events();
  std::string seen;
  bool ended = false;
  while (!ended) {
    bool ready = false;
    events.notify([&] { ready = true; });
    ASSERT_TRUE(ready);
    const auto event = events.next_for(0s).value();
    seen += event->data.view();
    ended = event->kind == Event::Kind::exit;
  }
  EXPECT_EQ(seen, "ab");
}

// Two readers on one loop: what the first does about its event comes before time goes on.
TEST(Callbacks, TimeWaitsForEveryReaderOfAnEventLoop) {
  Manager manager;
  manager.add("trigger", Program().sleep(1s).out("now"));
  manager.add("victim", Program().hang());
  const auto trigger = start(manager, request_for("trigger"));
  const auto victim = start(manager, request_for("victim"));

  std::deque<std::function<void()>> loop;
  std::function<void(EventStream&, std::function<void(const Event&)>)> read =
      [&](EventStream& stream, const std::function<void(const Event&)>& handle) {
        stream.notify([&, handle] {
          loop.emplace_back([&, handle] {
            if (const auto event = stream.next_for(0s).value()) {
              handle(*event);
              read(stream, handle);
            }
          });
        });
      };
  EventStream of_victim = victim->events();
  EventStream of_trigger = trigger->events();
  std::shared_ptr<const Outcome> outcome;
  loop.emplace_back([&] {
    read(of_trigger, [&](const Event& event) {
      if (event.kind != Event::Kind::out) return;
      ASSERT_TRUE(victim->kill());
    });
  });
  loop.emplace_back([&] { read(of_victim, [&](const Event& event) { outcome = event.outcome; }); });
  while (!loop.empty()) {
    const auto handler = std::move(loop.front());
    loop.pop_front();
    handler();
  }
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::cancelled);
  EXPECT_EQ(outcome->wall, 1s);
}

}  // namespace
}  // namespace cordon::memory
