#include "base/short_wait.h"

#include <gtest/gtest.h>

#include <chrono>

namespace cordon::base {
namespace {

using namespace std::chrono_literals;

// Goes on by itself whenever somebody looks.
class Ticking final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return now_ += tick; }
  [[nodiscard]] WallTime wall_now() const override { return {}; }
  void sleep_until(TimePoint until) override { now_ = until; }
  void pass(Duration d) { now_ += d; }

  Duration tick = 1us;

 private:
  mutable TimePoint now_{};
};

class ShortWaitTest : public testing::Test {
 protected:
  // Whoever is waited for answers after `time`.
  void wait_for(Duration time, ShortWait& wait) {
    const TimePoint at = clock_.now() + time;
    looks_ = 0;
    slept_ = false;
    wait.wait(
        [&] {
          ++looks_;
          return clock_.now() >= at;
        },
        [&] {
          slept_ = true;
          if (clock_.now() < at) clock_.sleep_until(at);
        });
  }

  Ticking clock_;
  ShortWait wait_{clock_, true};
  int looks_ = 0;
  bool slept_ = false;
};

TEST_F(ShortWaitTest, TheFirstOneSleeps) {
  wait_for(50us, wait_);
  EXPECT_TRUE(slept_);
  EXPECT_EQ(looks_, 0);
}

TEST_F(ShortWaitTest, AfterAShortOneItLooks) {
  wait_for(50us, wait_);
  wait_for(60us, wait_);
  EXPECT_FALSE(slept_);
  EXPECT_GT(looks_, 1);
}

TEST_F(ShortWaitTest, LooksForTheSlowerOneOfTwoWhoTakeTurns) {
  wait_for(100us, wait_);
  wait_for(10us, wait_);
  wait_for(100us, wait_);
  EXPECT_FALSE(slept_);
}

TEST_F(ShortWaitTest, AQuietPeerCostsNothing) {
  wait_for(ShortWait::kLongest - 10us, wait_);
  for (int i = 0; i < 3; ++i) {
    wait_for(1s, wait_);
    EXPECT_TRUE(slept_);
  }
  wait_for(1s, wait_);
  EXPECT_EQ(looks_, 0);
}

TEST_F(ShortWaitTest, TheLastOneLooksNoLongerThanTheLimit) {
  wait_for(ShortWait::kLongest - 10us, wait_);
  const TimePoint begin = clock_.now();
  TimePoint gave_up = begin;
  wait_.wait([] { return false; }, [&] { gave_up = clock_.now(); });
  EXPECT_LE(gave_up - begin, ShortWait::kLongest + 10us);
}

TEST_F(ShortWaitTest, SomebodyWhoAnswersAtOnceIsNotWaitedForForLong) {
  wait_for(10us, wait_);
  EXPECT_LE(wait_.window(), 50us);
}

TEST_F(ShortWaitTest, GivesWayWhereOthersNeedTheProcessor) {
  wait_for(50us, wait_);
  clock_.tick = ShortWait::kCrowded + 1us;  // so long the others ran between two looks
  wait_for(1s, wait_);
  EXPECT_TRUE(slept_);
  EXPECT_EQ(looks_, 2);
}

TEST_F(ShortWaitTest, NeverLooksWithOneProcessor) {
  ShortWait wait(clock_, false);
  for (int i = 0; i < 3; ++i) wait_for(20us, wait);
  EXPECT_TRUE(slept_);
  EXPECT_EQ(looks_, 0);
}

}  // namespace
}  // namespace cordon::base
