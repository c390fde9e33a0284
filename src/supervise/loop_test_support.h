// What the tests of the loop wait for, and what keeps it busy.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "base/fd.h"
#include "supervise/loop.h"

namespace cordon::supervise {

inline constexpr auto kLong = std::chrono::seconds(30);  // only a failure takes as long

inline TimePoint in(Duration d) { return std::chrono::steady_clock::now() + d; }

class Waker : public Wakeable {
 public:
  explicit Waker(std::function<void()> action) : action_(std::move(action)) {}
  void on_wake() override { action_(); }

 private:
  std::function<void()> action_;
};

inline std::shared_ptr<Wakeable> waker(std::function<void()> action) {
  return std::make_shared<Waker>(std::move(action));
}

// Something to wait for.
class Flag {
 public:
  void raise() { promise_.set_value(); }
  void await() { ASSERT_EQ(future_.wait_for(kLong), std::future_status::ready); }

 private:
  std::promise<void> promise_;
  std::future<void> future_ = promise_.get_future();
};

// Waits until the loop has done all that was due when this was called. Deadlines are kept in
// order, so whatever was due before has had its turn.
inline void drain(Loop& loop) {
  Flag done;
  const auto last = waker([&] { done.raise(); });
  loop.wake_at(last, in(Duration{}));
  done.await();
}

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    reader.reset(ends[0]);
    writer.reset(ends[1]);
  }
  void write() const { EXPECT_EQ(::write(writer.get(), "x", 1), 1); }
  base::Fd reader;
  base::Fd writer;
};

// Keeps the loop's thread busy until told otherwise.
class Busy {
 public:
  explicit Busy(Loop& loop) {
    loop.wake_at(target_, in(Duration{}));
    begun_.await();
  }
  void release() { go_on_.raise(); }

 private:
  Flag begun_;
  Flag go_on_;
  std::shared_ptr<Wakeable> target_ = waker([this] {
    begun_.raise();
    go_on_.await();
  });
};

}  // namespace cordon::supervise
