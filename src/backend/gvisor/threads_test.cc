#include "backend/gvisor/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace cordon::gvisor_backend {
namespace {

// Tells of its end, and waits for a permission first.
class Thing {
 public:
  Thing(std::shared_future<void> may, std::atomic<int>& gone)
      : may_(std::move(may)), gone_(&gone) {}
  ~Thing() {
    if (gone_ == nullptr) return;
    may_.wait();
    ++*gone_;
  }
  Thing(Thing&& other) noexcept
      : may_(std::move(other.may_)), gone_(std::exchange(other.gone_, nullptr)) {}
  Thing& operator=(Thing&&) = delete;

 private:
  std::shared_future<void> may_;
  std::atomic<int>* gone_;
};

TEST(Threads, WhatIsLeftToThemIsGoneWhenTheyAre) {
  std::promise<void> permission;
  std::atomic<int> gone{0};
  auto threads = Threads::start();
  ASSERT_TRUE(threads) << threads.error().message;
  const std::shared_future<void> may = permission.get_future().share();
  for (int i = 0; i < 3; ++i) (*threads)->leave(Thing(may, gone));
  EXPECT_EQ(gone, 0) << "nobody waited";
  permission.set_value();
  threads->reset();
  EXPECT_EQ(gone, 3);
}

TEST(Threads, WhoLeavesTooMuchDoesItItself) {
  std::promise<void> permission;
  std::promise<void> none;
  none.set_value();
  std::atomic<int> later{0};
  std::atomic<int> now{0};
  auto threads = Threads::start();
  ASSERT_TRUE(threads) << threads.error().message;
  const std::shared_future<void> may = permission.get_future().share();
  const std::shared_future<void> at_once = none.get_future().share();
  for (int i = 0; i < Threads::kMost; ++i) (*threads)->leave(Thing(may, later));
  (*threads)->leave(Thing(at_once, now));
  EXPECT_EQ(now, 1);
  EXPECT_EQ(later, 0);
  permission.set_value();
  threads->reset();
  EXPECT_EQ(later, Threads::kMost);
}

}  // namespace
}  // namespace cordon::gvisor_backend
