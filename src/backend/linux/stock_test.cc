#include "backend/linux/stock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace cordon::linux_backend {
namespace {

class StockTest : public testing::Test {
 protected:
  // What has been posted so far has been done.
  void settle() {
    keeper_->run([] {});
  }

  std::unique_ptr<Keeper> keeper_ = *Keeper::start();
  std::atomic<int> made_ = 0;
  Stock<int> stock_{*keeper_, [this]() -> std::optional<int> { return ++made_; }};
};

TEST_F(StockTest, MakesNothingUntilOneIsExpected) {
  settle();
  EXPECT_EQ(made_, 0);
  EXPECT_FALSE(stock_.take());  // the caller makes its own
  settle();
  EXPECT_EQ(made_, 0);
}

TEST_F(StockTest, MakesOneForTheRunThatIsExpected) {
  stock_.expect();
  EXPECT_EQ(stock_.take(), 1);  // waits for it
  settle();
  EXPECT_EQ(made_, 1);
}

TEST_F(StockTest, MakesMoreOnceASecondOneWasAskedFor) {
  EXPECT_FALSE(stock_.take());
  EXPECT_FALSE(stock_.take());
  settle();
  EXPECT_GT(made_, 1);
  EXPECT_TRUE(stock_.take());
}

TEST_F(StockTest, WantsNothingBackForACommandThatRunsOneProgram) {
  EXPECT_FALSE(stock_.wanted());
  (void)stock_.take();
  EXPECT_FALSE(stock_.wanted());
}

TEST_F(StockTest, HandsOutWhatWasPutBackBeforeItMakesMore) {
  using Numbers = Stock<int>;
  Numbers stock(
      *keeper_, [this]() -> std::optional<int> { return ++made_; }, Numbers::Replaced::later);
  (void)stock.take();
  (void)stock.take();
  for (int one = 100; stock.wanted(); ++one) stock.put(one);
  for (std::size_t i = 0; i < Numbers::kReady; ++i) EXPECT_GE(stock.take(), 100);
  settle();
  EXPECT_EQ(made_, 0);
  stock.replace();
  settle();
  EXPECT_EQ(made_, static_cast<int>(Numbers::kReady));
}

TEST_F(StockTest, HandsEachOutOnce) {
  std::mutex mutex;
  std::multiset<int> taken;
  std::vector<std::jthread> takers;
  for (int i = 0; i < 4; ++i) {
    takers.emplace_back([&] {
      for (int n = 0; n < 200; ++n) {
        stock_.expect();
        const auto one = stock_.take();
        const std::lock_guard lock(mutex);
        if (one) taken.insert(*one);
      }
    });
  }
  takers.clear();
  EXPECT_FALSE(taken.empty());
  EXPECT_EQ(std::set<int>(taken.begin(), taken.end()).size(), taken.size());
}

TEST_F(StockTest, WhatCannotBeMadeIsNotWaitedForInVain) {
  Stock<int> none(*keeper_, []() -> std::optional<int> { return std::nullopt; });
  none.expect();
  EXPECT_FALSE(none.take());
  EXPECT_FALSE(none.take());
  EXPECT_FALSE(none.take());
}

}  // namespace
}  // namespace cordon::linux_backend
