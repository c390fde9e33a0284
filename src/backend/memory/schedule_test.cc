#include "backend/memory/schedule.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace cordon::memory {
namespace {

TimePoint at(int ns) { return TimePoint(Duration(ns)); }
void nothing(void* /*owner*/, Lock& /*lock*/) {}

std::unique_ptr<Timer> timer() { return std::make_unique<Timer>(&nothing, nullptr); }

TEST(Schedule, EarliestFirstAndTiesInOrderOfArming) {
  Schedule schedule;
  Timer late(&nothing, nullptr);
  Timer first(&nothing, nullptr);
  Timer second(&nothing, nullptr);
  schedule.arm(late, at(9));
  schedule.arm(first, at(5));
  schedule.arm(second, at(5));
  for (Timer* expected : {&first, &second, &late}) {
    ASSERT_EQ(schedule.first(), expected);
    schedule.cancel(*expected);
  }
  EXPECT_EQ(schedule.first(), nullptr);
}

TEST(Schedule, ArmingAgainMovesTheTimer) {
  Schedule schedule;
  Timer a(&nothing, nullptr);
  Timer b(&nothing, nullptr);
  schedule.arm(a, at(1));
  schedule.arm(b, at(2));
  schedule.arm(a, at(3));
  EXPECT_EQ(schedule.first(), &b);
  schedule.cancel(b);
  EXPECT_EQ(schedule.first(), &a);
  schedule.cancel(a);
  schedule.cancel(a);
  EXPECT_FALSE(a.armed());
}

TEST(Schedule, StaysOrderedWhateverIsCancelled) {
  Schedule schedule;
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same numbers every time
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < 500; ++i) {
    timers.push_back(timer());
    schedule.arm(*timers.back(), at(static_cast<int>(random() % 100)));
  }
  for (int i = 0; i < 200; ++i) schedule.cancel(*timers[random() % timers.size()]);
  TimePoint last = at(-1);
  std::uint64_t last_order = 0;
  while (Timer* const first = schedule.first()) {
    ASSERT_TRUE(first->at > last || (first->at == last && first->order > last_order));
    last = first->at;
    last_order = first->order;
    schedule.cancel(*first);
  }
}

}  // namespace
}  // namespace cordon::memory
