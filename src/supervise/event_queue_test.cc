#include "supervise/event_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cordon::supervise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr std::size_t kPlenty = std::size_t{1} << 30;

std::vector<Event> frames(std::initializer_list<std::string_view> texts) {
  std::vector<Event> events;
  for (const std::string_view text : texts) events.emplace_back().data = Bytes(text);
  return events;
}

void push(EventQueue& queue, std::initializer_list<std::string_view> texts) {
  auto events = frames(texts);
  queue.push(Event::Kind::out, 1ms, events);
}

std::vector<Event> take(EventQueue& queue) {
  std::vector<Event> batch;
  queue.take(batch);
  return batch;
}

std::vector<std::string> texts(const std::vector<Event>& events) {
  std::vector<std::string> all;
  for (const Event& event : events) {
    all.push_back(event.kind == Event::Kind::exit ? "exit" : event.data.str());
  }
  return all;
}

std::vector<std::uint64_t> numbers(const std::vector<Event>& events) {
  std::vector<std::uint64_t> all;
  for (const Event& event : events) all.push_back(event.sequence);
  return all;
}

// Room for `events` events of ten bytes each.
std::size_t room_for(std::size_t events) {
  Event event;
  event.data = Bytes(std::string_view("0123456789"));
  return events * EventQueue::cost_of(event);
}

TEST(EventQueueTest, NumbersAndStampsAcrossStreamsAndTakes) {  // C84
  EventQueue queue(kPlenty);
  auto out = frames({"a", "b"});
  queue.push(Event::Kind::out, 1ms, out);
  EXPECT_THAT(out, IsEmpty()) << "ready to be filled again";
  auto err = frames({"c"});
  queue.push(Event::Kind::err, 2ms, err);

  const auto first = take(queue);
  EXPECT_THAT(texts(first), ElementsAre("a", "b", "c"));
  EXPECT_THAT(numbers(first), ElementsAre(0, 1, 2));
  EXPECT_EQ(first[1].kind, Event::Kind::out);
  EXPECT_EQ(first[1].at, 1ms);
  EXPECT_EQ(first[2].kind, Event::Kind::err);
  EXPECT_EQ(first[2].at, 2ms);
  EXPECT_EQ(first[2].dropped, 0U);
  EXPECT_TRUE(queue.empty());

  push(queue, {"d"});
  EXPECT_THAT(numbers(take(queue)), ElementsAre(3));
}

TEST(EventQueueTest, KeepsWhatTheFramerMarked) {
  EventQueue queue(kPlenty);
  auto marked = frames({"part", "junk"});
  marked[0].partial = true;
  marked[1].invalid = true;
  queue.push(Event::Kind::out, 0ms, marked);
  const auto events = take(queue);
  EXPECT_TRUE(events[0].partial);
  EXPECT_FALSE(events[0].invalid);
  EXPECT_TRUE(events[1].invalid);
}

TEST(EventQueueTest, ExitComesLastWithTheOutcome) {
  EventQueue queue(kPlenty);
  push(queue, {"a"});
  EXPECT_FALSE(queue.exit_pushed());
  auto outcome = std::make_shared<Outcome>();
  queue.push_exit(5s, outcome);
  EXPECT_TRUE(queue.exit_pushed());
  const auto events = take(queue);
  EXPECT_THAT(texts(events), ElementsAre("a", "exit"));
  EXPECT_THAT(numbers(events), ElementsAre(0, 1));
  EXPECT_EQ(events[1].outcome, outcome);
  EXPECT_EQ(events[1].at, 5s);
}

TEST(EventQueueTest, TakingFromAnEmptyOneGivesNothing) {
  EventQueue queue(kPlenty);
  EXPECT_TRUE(queue.empty());
  EXPECT_THAT(take(queue), IsEmpty());
}

TEST(EventQueueTest, IsFullAtItsCapacityAndEmptyAgainWhenTaken) {
  EventQueue queue(room_for(2));
  push(queue, {"0123456789"});
  EXPECT_FALSE(queue.full());
  push(queue, {"0123456789"});
  EXPECT_TRUE(queue.full());
  (void)take(queue);
  EXPECT_FALSE(queue.full());
}

TEST(EventQueueTest, DropsTheOldestAndCountsThem) {
  EventQueue queue(room_for(2));
  push(queue, {"0000000000", "1111111111", "2222222222", "3333333333"});
  queue.drop_to_fit();
  EXPECT_EQ(queue.dropped_bytes(), 20U);
  const auto events = take(queue);
  EXPECT_THAT(texts(events), ElementsAre("2222222222", "3333333333"));
  EXPECT_THAT(numbers(events), ElementsAre(2, 3)) << "the gap shows";
}

TEST(EventQueueTest, DropsNothingThatFits) {
  EventQueue queue(room_for(2));
  push(queue, {"0000000000", "1111111111"});
  queue.drop_to_fit();
  EXPECT_EQ(queue.dropped_bytes(), 0U);
  EXPECT_EQ(take(queue).size(), 2U);
}

TEST(EventQueueTest, DroppedCountNeverGoesBack) {
  EventQueue queue(room_for(3));
  push(queue, {"0000000000", "1111111111", "2222222222", "3333333333"});
  queue.drop_to_fit();
  push(queue, {"4444444444"});
  queue.drop_to_fit();
  push(queue, {"5"});  // not dropped to fit: stamped as it came
  const auto events = take(queue);
  ASSERT_EQ(events.size(), 4U);
  for (const Event& event : events) EXPECT_EQ(event.dropped, 20U) << event.data.str();

  push(queue, {"6"});
  EXPECT_EQ(take(queue)[0].dropped, 20U);
}

TEST(EventQueueTest, NextEventTellsWhenAllWereDropped) {
  EventQueue queue(room_for(1));
  push(queue, {"much too long to be kept at all"});
  queue.drop_to_fit();
  EXPECT_TRUE(queue.empty());
  push(queue, {"next"});
  const auto events = take(queue);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].dropped, 31U);
  EXPECT_EQ(events[0].sequence, 1U);
}

TEST(EventQueueTest, NeverDropsTheExitEvent) {
  EventQueue queue(1);
  push(queue, {"a", "b"});
  queue.push_exit(1s, std::make_shared<Outcome>());
  queue.drop_to_fit();
  const auto events = take(queue);
  EXPECT_THAT(texts(events), ElementsAre("exit"));
  EXPECT_EQ(events[0].dropped, 2U);
  EXPECT_EQ(events[0].sequence, 2U);
}

TEST(EventQueueTest, ManyTinyEventsAreBoundedToo) {  // C129
  constexpr std::size_t kCapacity = 64 * 1024;
  EventQueue queue(kCapacity);
  constexpr int kEvents = 100000;
  for (int i = 0; i < kEvents; ++i) {
    push(queue, {"x"});
    queue.drop_to_fit();
  }
  const auto events = take(queue);
  EXPECT_LE(events.size(), kCapacity / sizeof(Event));
  EXPECT_GT(events.size(), kCapacity / sizeof(Event) / 2);
  EXPECT_EQ(events.back().sequence, kEvents - 1U);
  EXPECT_EQ(queue.dropped_bytes() + events.size(), std::uint64_t{kEvents});
}

TEST(EventQueueTest, EmptyEventsAreBoundedToo) {
  EventQueue queue(10 * sizeof(Event));
  for (int i = 0; i < 1000; ++i) {
    push(queue, {""});
    queue.drop_to_fit();
  }
  EXPECT_LE(take(queue).size(), 10U);
}

TEST(EventQueueTest, DroppedEventsLetGoOfTheirBytes) {
  auto memory = std::make_shared<std::string>(room_for(10), 'x');
  const std::weak_ptr<std::string> alive = memory;
  EventQueue queue(room_for(4));
  std::vector<Event> large(1);
  const std::string_view view = *memory;
  large[0].data = Bytes(std::move(memory), view);
  queue.push(Event::Kind::out, 0ms, large);
  push(queue, {"0123456789", "0123456789", "0123456789"});
  queue.drop_to_fit();
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(take(queue).size(), 3U);
}

TEST(EventQueueTest, GivesBackToTheFront) {
  EventQueue queue(kPlenty);
  push(queue, {"a", "b", "c"});
  auto batch = take(queue);
  push(queue, {"d"});
  queue.push_exit(1s, std::make_shared<Outcome>());
  batch.erase(batch.begin());  // "a" was read
  queue.give_back(std::move(batch));
  const auto events = take(queue);
  EXPECT_THAT(texts(events), ElementsAre("b", "c", "d", "exit"));
  EXPECT_THAT(numbers(events), ElementsAre(1, 2, 3, 4));
}

TEST(EventQueueTest, GivenBackEventsCountAgain) {
  EventQueue queue(room_for(2));
  push(queue, {"0000000000", "1111111111"});
  queue.give_back(take(queue));
  EXPECT_TRUE(queue.full());
  push(queue, {"2222222222"});
  queue.drop_to_fit();
  EXPECT_THAT(texts(take(queue)), ElementsAre("1111111111", "2222222222"));
}

TEST(EventQueueTest, GivesBackAfterDropsInTheMiddle) {
  EventQueue queue(room_for(3));
  push(queue, {"0000000000"});
  auto batch = take(queue);
  push(queue, {"1111111111", "2222222222", "3333333333", "4444444444"});
  queue.drop_to_fit();
  queue.give_back(std::move(batch));
  EXPECT_THAT(numbers(take(queue)), ElementsAre(0, 2, 3, 4));
}

TEST(EventQueueTest, TwoReadersMayGiveBackInAnyOrder) {
  EventQueue queue(kPlenty);
  push(queue, {"a", "b"});
  auto first = take(queue);
  push(queue, {"c"});
  queue.push_exit(1s, std::make_shared<Outcome>());
  auto second = take(queue);
  queue.give_back(std::move(first));
  queue.give_back(std::move(second));
  EXPECT_THAT(texts(take(queue)), ElementsAre("a", "b", "c", "exit"));
}

}  // namespace
}  // namespace cordon::supervise
