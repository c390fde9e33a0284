#include "sandbox/transcript.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "cordon/memory.h"

namespace cordon::sandbox {
namespace {

using namespace std::chrono_literals;

Event out(std::uint64_t sequence, std::string_view text, std::uint64_t dropped = 0) {
  Event event;
  event.sequence = sequence;
  event.dropped = dropped;
  event.data = Bytes(text);
  return event;
}
Event exit_event(std::uint64_t sequence) {
  Event event;
  event.kind = Event::Kind::exit;
  event.sequence = sequence;
  auto outcome = std::make_shared<Outcome>();
  outcome->exit_code = 7;
  event.outcome = std::move(outcome);
  return event;
}
// For that many events of ten bytes.
constexpr std::size_t room_for(std::size_t events) {
  return events * (10 + Transcript::kEventCost);
}
std::string ten(int i) { return std::string(10, static_cast<char>('a' + (i % 26))); }

TEST(Transcript, EveryReaderGetsEverythingAndTheEnd) {
  Transcript transcript(room_for(10));
  transcript.append(out(0, "one"));
  auto early = transcript.read({});
  EXPECT_EQ(early.next()->event.data.view(), "one");
  transcript.append(out(1, "two"));
  transcript.append(exit_event(2));
  auto late = transcript.read({});
  EXPECT_EQ(late.next()->event.data.view(), "one");
  for (auto* const reader : {&early, &late}) {
    const auto two = reader->next();
    EXPECT_EQ(two->event.data.view(), "two");
    EXPECT_EQ(two->offset, 3U);
    EXPECT_EQ(two->missed, 0U);
    EXPECT_EQ(reader->next()->event.outcome->exit_code, 7);
    EXPECT_FALSE(reader->next());
    EXPECT_FALSE(reader->next());
  }
  EXPECT_TRUE(transcript.ended());
  EXPECT_EQ(transcript.outcome()->exit_code, 7);
}

TEST(Transcript, KeepsTheNewestAndCountsTheRest) {
  Transcript transcript(room_for(3));
  for (int i = 0; i < 10; ++i) transcript.append(out(static_cast<std::uint64_t>(i), ten(i)));
  EXPECT_EQ(transcript.written(), 100U);
  EXPECT_EQ(transcript.dropped(), 70U);
  auto reader = transcript.read({});
  const auto first = reader.next();
  EXPECT_EQ(first->event.sequence, 7U);
  EXPECT_EQ(first->missed, 70U);
  EXPECT_EQ(first->offset, 70U);
  EXPECT_EQ(reader.next()->missed, 0U);
}

TEST(Transcript, ManySmallEventsAreBoundedToo) {
  Transcript transcript(100 * Transcript::kEventCost);
  for (std::uint64_t i = 0; i < 10'000; ++i) transcript.append(out(i, "x"));
  auto reader = transcript.read({});
  EXPECT_GE(reader.next()->event.sequence, 10'000U - 100U);
}

TEST(Transcript, AnEventBiggerThanTheLimitIsKeptAlone) {
  Transcript transcript(1);
  transcript.append(out(0, "small"));
  transcript.append(out(1, std::string(1000, 'x')));
  transcript.append(exit_event(2));
  auto reader = transcript.read({});
  const auto big = reader.next();
  EXPECT_EQ(big->event.data.size(), 1000U);
  EXPECT_EQ(big->missed, 5U);
  EXPECT_TRUE(reader.next()->event.outcome);
}

TEST(Transcript, WhoComesBackGoesOnWhereHeWasAndKnowsWhatHeMissed) {
  Transcript transcript(room_for(3));
  for (int i = 0; i < 3; ++i) transcript.append(out(static_cast<std::uint64_t>(i), ten(i)));
  Transcript::From position;
  {
    auto reader = transcript.read({});
    (void)reader.next();
    position = reader.position();
  }
  EXPECT_EQ(position.sequence, 1U);
  EXPECT_EQ(position.offset, 10U);
  {
    auto again = transcript.read(position);
    EXPECT_EQ(again.next()->event.sequence, 1U);
  }
  for (int i = 3; i < 6; ++i) transcript.append(out(static_cast<std::uint64_t>(i), ten(i)));
  auto late = transcript.read(position);
  const auto entry = late.next();
  EXPECT_EQ(entry->event.sequence, 3U);
  EXPECT_EQ(entry->missed, 20U);  // events 1 and 2; 0 he had
}

TEST(Transcript, WhatTheProcessItselfDroppedIsCounted) {
  Transcript transcript(room_for(10));
  transcript.append(out(0, "0123456789"));
  transcript.append(out(5, "x", 40));
  EXPECT_EQ(transcript.dropped(), 40U);
  EXPECT_EQ(transcript.written(), 51U);
  auto reader = transcript.read({});
  (void)reader.next();
  const auto entry = reader.next();
  EXPECT_EQ(entry->missed, 40U);
  EXPECT_EQ(entry->offset, 50U);
}

TEST(Transcript, WaitsNoLongerThanAllowed) {
  Transcript transcript(100);
  auto reader = transcript.read({});
  const auto none = reader.next_for(1ms);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::timed_out);
  transcript.close();
  const auto end = reader.next_for(1ms);
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
  EXPECT_EQ(transcript.outcome(), nullptr);
}

TEST(Transcript, AReaderThatHoldsLosesNothing) {
  constexpr std::uint64_t kEvents = 2000;
  Transcript transcript(room_for(2));
  auto reader = transcript.read({}, true);
  std::jthread feeder([&] {
    for (std::uint64_t i = 0; i < kEvents; ++i) transcript.append(out(i, ten(0)));
    transcript.append(exit_event(kEvents));
  });
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    const auto entry = reader.next();
    ASSERT_TRUE(entry);
    ASSERT_EQ(entry->event.sequence, i);
    ASSERT_EQ(entry->missed, 0U);
  }
  EXPECT_TRUE(reader.next()->event.outcome);
}

TEST(Transcript, HoldingEndsWithTheReader) {
  Transcript transcript(room_for(1));
  std::optional<Transcript::Reader> reader = transcript.read({}, true);
  transcript.append(out(0, ten(0)));
  std::atomic<bool> done{false};
  std::jthread feeder([&] {
    transcript.append(out(1, ten(1)));
    done = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(done);
  reader.reset();
  feeder.join();
  EXPECT_EQ(transcript.dropped(), 10U);
}

TEST(Transcript, AnEventLoopIsToldOnce) {
  Transcript transcript(1000);
  auto reader = transcript.read({});
  int told = 0;
  reader.notify([&] { ++told; });
  EXPECT_EQ(told, 0);
  transcript.append(out(0, "x"));
  transcript.append(out(1, "y"));
  EXPECT_EQ(told, 1);
  reader.notify([&] { ++told; });  // there is something to be had
  EXPECT_EQ(told, 2);
  (void)reader.next();
  (void)reader.next();
  reader.notify([&] { ++told; });
  reader.notify({});
  transcript.close();
  EXPECT_EQ(told, 2);
}

TEST(Transcript, AReaderMayGoWhileItIsTold) {
  Transcript transcript(1000);
  std::optional<Transcript::Reader> reader = transcript.read({});
  reader->notify([&] { reader.reset(); });
  transcript.append(out(0, "x"));
  EXPECT_FALSE(reader);
}

TEST(Transcript, ReadersComeAndGoWhileItIsWritten) {
  constexpr std::uint64_t kEvents = 3000;
  Transcript transcript(room_for(50));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&transcript, i] {
      Transcript::From from;
      std::uint64_t got = 0;
      std::uint64_t missed = 0;
      for (bool more = true; more;) {
        auto reader = transcript.read(from, i % 2 == 0);
        for (int n = 0; n < 100 && more; ++n) {
          const auto entry = reader.next();
          more = entry.has_value();
          if (!more) break;
          got += entry->event.data.size();
          missed += entry->missed;
        }
        from = reader.position();
      }
      EXPECT_EQ(got + missed, kEvents * 10);
    });
  }
  for (std::uint64_t i = 0; i < kEvents; ++i) transcript.append(out(i, ten(0)));
  transcript.append(exit_event(kEvents));
}

TEST(Transcript, IsFedByAProcess) {
  memory::Manager manager;
  manager.add("talk", memory::Program().out("hello ").err("oops ").out("world").exit(3));
  auto process = manager.create({.program = "talk"});
  ASSERT_TRUE(process);
  EventStream events = (*process)->events();
  ASSERT_TRUE((*process)->start());
  Transcript transcript(1000);
  transcript.feed(events);
  auto reader = transcript.read({});
  std::string text;
  while (auto entry = reader.next()) {
    text += entry->event.data.view();
    if (entry->event.outcome) {
      EXPECT_EQ(entry->event.outcome->exit_code, 3);
    }
  }
  EXPECT_EQ(text, "hello oops world");
}

}  // namespace
}  // namespace cordon::sandbox
