// Events: what a program writes arrives once, in order, framed as asked, in bounded memory.
#include <future>
#include <thread>

#include "conformance/world.h"
#include "support/slowness.h"

namespace cordon::conformance {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class OutputEvents : public Conformance {};

std::vector<std::string> data_of(const std::vector<Event>& events, Event::Kind kind) {
  std::vector<std::string> all;
  for (const Event& event : events) {
    if (event.kind == kind) all.push_back(event.data.str());
  }
  return all;
}

TEST_P(OutputEvents, StreamsAreTaggedAndExitComesLast) {  // C84
  const auto process = create(world().writes("to out", "to err"));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  const Collected all = collect(events);
  EXPECT_EQ(all.out, "to out");
  EXPECT_EQ(all.err, "to err");
  ASSERT_FALSE(all.events.empty());
  EXPECT_EQ(all.events.back().kind, Event::Kind::exit);
  EXPECT_EQ(all.outcome->output_bytes, 12U);
  EXPECT_FALSE(all.outcome->output_truncated);
}

TEST_P(OutputEvents, EventsAreNumberedAndTimed) {
  const auto process = create(world().writes("a\nb\nc\n", ""));
  ASSERT_TRUE(process->set_stdout(Output::events({.mode = OutputMode::line})));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  const Collected all = collect(events);
  ASSERT_EQ(all.events.size(), 4U);
  for (std::size_t i = 0; i < all.events.size(); ++i) {
    EXPECT_EQ(all.events[i].sequence, i);
    EXPECT_GE(all.events[i].at, 0ns);
    if (i > 0) {
      EXPECT_GE(all.events[i].at, all.events[i - 1].at);
    }
  }
}

TEST_P(OutputEvents, NothingComesAfterTheExitEvent) {
  const auto process = start(world().exits(0));
  EventStream events = process->events();
  ASSERT_TRUE(collect(events).outcome);
  EXPECT_FALSE(events.next());
  EXPECT_FALSE(events.next_for(1ms).value());
}

TEST_P(OutputEvents, LinesComeWhole) {  // C101
  const auto process = create(world().writes("one\r\ntwo\n\nlast", ""));
  ASSERT_TRUE(process->set_stdout(Output::events({.mode = OutputMode::line})));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  EXPECT_THAT(data_of(collect(events).events, Event::Kind::out),
              ElementsAre("one", "two", "", "last"));
}

TEST_P(OutputEvents, ModesAreSeparateForEachStream) {  // C102 C103 C108
  const auto process = create(world().writes(R"({"a":1}[2] oops)"
                                             "\n3\n",
                                             "abcdefg"));
  ASSERT_TRUE(process->set_stdout(Output::events({.mode = OutputMode::json})));
  ASSERT_TRUE(process->set_stderr(Output::events({.mode = OutputMode::chunked, .chunk_size = 3})));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  const Collected all = collect(events);
  EXPECT_THAT(data_of(all.events, Event::Kind::out), ElementsAre(R"({"a":1})", "[2]", "oops", "3"));
  EXPECT_THAT(data_of(all.events, Event::Kind::err), ElementsAre("abc", "def", "g"));
  for (const Event& event : all.events) {
    EXPECT_EQ(event.invalid, event.data.view() == "oops");
  }
}

TEST_P(OutputEvents, DiscardedOutputMakesNoEvents) {
  const auto process = create(world().writes("out", "err"));
  ASSERT_TRUE(process->set_stdout(Output::discard()));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  const Collected all = collect(events);
  EXPECT_EQ(all.out, "");
  EXPECT_EQ(all.err, "err");
}

TEST_P(OutputEvents, FloodNobodyReadsNeverBlocksWait) {  // C129
  Request request = world().floods();
  request.timeout = GetParam().begins + support::enough(150ms);
  request.event_buffer = 64 * 1024;
  const auto process = start(std::move(request));
  const auto outcome = process->wait();
  EXPECT_EQ(outcome->verdict, Verdict::timeout);
  EXPECT_GT(outcome->output_bytes, 1024U * 1024U) << "it was not held back";
  EXPECT_TRUE(outcome->output_truncated);
  // What is left is the newest, within the bound (and one pipe's worth for each stream).
  EventStream events = process->events();
  const Collected all = collect(events);
  EXPECT_LE(all.out.size() + all.err.size(), 64U * 1024U);
  EXPECT_GT(all.events.front().sequence, 0U);
  EXPECT_GT(all.events.front().dropped, 0U);
}

TEST_P(OutputEvents, HeldBackProgramLosesNothing) {  // C107
  constexpr std::uint64_t kTotal = 4 << 20;
  Request request = world().writes_blob(kTotal);
  request.event_buffer = 16 * 1024;
  const auto process = create(std::move(request));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  std::uint64_t seen = 0;
  while (auto event = events.next()) {
    if (event->kind == Event::Kind::exit) {
      EXPECT_EQ(event->outcome->output_bytes, kTotal);
      EXPECT_FALSE(event->outcome->output_truncated);
    }
    seen += event->data.size();
    EXPECT_EQ(event->dropped, 0U);
  }
  EXPECT_EQ(seen, kTotal);
}

TEST_P(OutputEvents, HeldBackProgramWaitsForItsReader) {
  Request request = world().floods();
  request.event_buffer = 16 * 1024;
  request.timeout = 100ms;
  const auto process = create(std::move(request));
  const EventStream attached_but_idle = process->events();
  ASSERT_TRUE(process->start());
  const auto outcome = process->wait();  // ends by the timeout: nobody reads
  EXPECT_EQ(outcome->verdict, Verdict::timeout);
  EXPECT_LT(outcome->output_bytes, 3U * 1024U * 1024U) << "pipes and buffer, no more";
}

// More lines in one block than the buffer holds, from a program that then waits for an answer.
TEST_P(OutputEvents, WhatDidNotFitTheBufferComesWithoutFurtherOutput) {
  constexpr int kLines = 2000;
  for (const bool by_notify : {false, true}) {
    Request request = world().echoes();
    request.in = Input::pipe();
    request.out = Output::events({.mode = OutputMode::line});
    request.event_buffer = 1024;
    request.timeout = kNoTimeout;
    const auto process = create(std::move(request));
    EventStream events = process->events();
    ASSERT_TRUE(process->start());
    std::string lines;
    for (int i = 0; i < kLines; ++i) lines += "x\n";
    ASSERT_EQ(process->write_stdin(lines), lines.size());
    for (int i = 0; i < kLines; ++i) {
      if (by_notify) {
        std::promise<void> ready;
        events.notify([&] { ready.set_value(); });
        ready.get_future().wait();
      }
      ASSERT_EQ(events.next()->data.view(), "x") << i;
    }
    ASSERT_TRUE(process->close_stdin());
    EXPECT_EQ(collect(events).outcome->exit_code, 0);
  }
}

TEST_P(OutputEvents, DropOldestKeepsTheNewest) {
  Request request = world().writes_blob(1 << 20);
  request.event_buffer = 32 * 1024;
  request.overflow = Overflow::drop_oldest;
  const auto process = create(std::move(request));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  ASSERT_TRUE(process->wait());
  const Collected all = collect(events);
  EXPECT_TRUE(all.outcome->output_truncated);
  EXPECT_EQ(all.outcome->output_bytes, 1U << 20);
  EXPECT_EQ(all.out.size() + all.events.back().dropped, 1U << 20);
  EXPECT_LE(all.out.size(), 32U * 1024U);
}

TEST_P(OutputEvents, EndRunOnOverflow) {
  Request request = world().floods();
  request.event_buffer = 32 * 1024;
  request.overflow = Overflow::end_run;
  const auto process = create(std::move(request));
  const EventStream events = process->events();
  ASSERT_TRUE(process->start());
  const auto outcome = process->wait();
  EXPECT_EQ(outcome->verdict, Verdict::output);
  EXPECT_EQ(exit_status(*outcome), 124);
}

TEST_P(OutputEvents, OutputLimitEndsTheRunAtTheByte) {
  Request request = world().floods();
  request.limits.output_bytes = 10'000;
  const auto process = create(std::move(request));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  const Collected all = collect(events);
  EXPECT_EQ(all.outcome->verdict, Verdict::output);
  EXPECT_EQ(all.out.size() + all.err.size(), 10'000U);
  EXPECT_TRUE(all.outcome->output_truncated);
  ASSERT_TRUE(all.outcome->limit);
  EXPECT_EQ(all.outcome->limit->name, "output");
  EXPECT_EQ(all.outcome->limit->limit, 10'000U);
  EXPECT_GT(all.outcome->limit->observed, 10'000U);
}

TEST_P(OutputEvents, OutputLimitHoldsForAProgramThatHasEndedAlready) {
  Request request = world().writes("0123456789ABC", "");
  request.limits.output_bytes = 10;
  EXPECT_EQ(start(std::move(request))->wait()->verdict, Verdict::output);
}

TEST_P(OutputEvents, OutputWithinTheLimitIsFine) {
  Request request = world().writes("12345", "12345");
  request.limits.output_bytes = 10;
  EXPECT_EQ(start(std::move(request))->wait()->verdict, Verdict::exited);
}

TEST_P(OutputEvents, DetachedReaderCanComeBack) {
  const auto process = create(world().writes("a\nb\nc\n", ""));
  ASSERT_TRUE(process->set_stdout(Output::events({.mode = OutputMode::line})));
  {
    EventStream events = process->events();
    ASSERT_TRUE(process->start());
    EXPECT_EQ(events.next()->data.view(), "a");
  }
  EventStream events = process->events();
  EXPECT_THAT(data_of(collect(events).events, Event::Kind::out), ElementsAre("b", "c"));
}

TEST_P(OutputEvents, PatienceOfAReaderRunsOut) {
  auto [process, events] = start_until_ready(world().hangs());
  const auto nothing = events.next_for(5ms);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::timed_out);
  EXPECT_EQ(events.next_for(0ms).error().code, ErrorCode::timed_out);
  ASSERT_TRUE(process->kill());
  EXPECT_EQ(collect(events).outcome->verdict, Verdict::cancelled);
}

TEST_P(OutputEvents, NotifyTellsOnceThereIsSomething) {
  const auto process = create(world().writes("x", ""));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  // A callback for each event: by the end, everything was read without ever waiting in next().
  std::mutex mutex;
  std::condition_variable told;
  bool ready = false;
  std::string out;
  for (bool ended = false; !ended;) {
    events.notify([&] {
      const std::lock_guard lock(mutex);
      ready = true;
      told.notify_one();
    });
    {
      std::unique_lock lock(mutex);
      told.wait(lock, [&] { return std::exchange(ready, false); });
    }
    const auto event = events.next_for(0ms);
    ASSERT_TRUE(event);
    ASSERT_TRUE(*event);
    ended = (*event)->kind == Event::Kind::exit;
    out += (*event)->data.view();
  }
  EXPECT_EQ(out, "x");
}

TEST_P(OutputEvents, WaiterAndReaderWorkSideBySide) {
  constexpr std::uint64_t kTotal = 2 << 20;
  Request request = world().writes_blob(kTotal);
  request.event_buffer = 16 * 1024;
  request.timeout = kNoTimeout;  // virtual time must not run ahead of the reader's thread
  const auto process = create(std::move(request));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  std::thread waiter([&] { EXPECT_EQ(process->wait()->verdict, Verdict::exited); });
  EXPECT_EQ(collect(events).out.size(), kTotal);
  waiter.join();
}

CORDON_CONFORMANCE_SUITE(OutputEvents);

}  // namespace
}  // namespace cordon::conformance
