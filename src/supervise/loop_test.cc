#include "supervise/loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "support/needs_descriptors.h"

namespace cordon::supervise {
namespace {

using base::Fd;
using testing::ElementsAre;
using namespace std::chrono_literals;

constexpr auto kLong = 30s;  // only a failure takes as long

TimePoint in(Duration d) { return std::chrono::steady_clock::now() + d; }

class Waker : public Wakeable {
 public:
  explicit Waker(std::function<void()> action) : action_(std::move(action)) {}
  void on_wake() override { action_(); }

 private:
  std::function<void()> action_;
};

std::shared_ptr<Wakeable> waker(std::function<void()> action) {
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
void drain(Loop& loop) {
  Flag done;
  const auto last = waker([&] { done.raise(); });
  loop.wake_at(last, in(0ms));
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
  Fd reader;
  Fd writer;
};

// Keeps the loop's thread busy until told otherwise.
class Busy {
 public:
  explicit Busy(Loop& loop) {
    loop.wake_at(target_, in(0ms));
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

TEST(LoopDeadlineTest, WakesInTheOrderOfDeadlines) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  std::vector<int> order;
  Flag done;
  const auto third = waker([&] {
    order.push_back(3);
    done.raise();
  });
  const auto first = waker([&] { order.push_back(1); });
  const auto second = waker([&] { order.push_back(2); });
  const TimePoint base = in(20ms);
  loop.wake_at(third, base + 2ms);
  loop.wake_at(first, base);
  loop.wake_at(second, base + 1ms);
  done.await();
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(LoopDeadlineTest, NeverWakesEarly) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  TimePoint woken;
  Flag done;
  const auto target = waker([&] {
    woken = in(0ms);
    done.raise();
  });
  const TimePoint when = in(15ms);
  loop.wake_at(target, when);
  done.await();
  EXPECT_GE(woken, when);
}

TEST(LoopDeadlineTest, PastDeadlineIsDueAtOnce) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  Flag done;
  const auto target = waker([&] { done.raise(); });
  loop.wake_at(target, TimePoint{});
  done.await();
}

TEST(LoopDeadlineTest, EarlierDeadlineOvertakesOneThatIsArmed) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  std::atomic<int> late{0};
  const auto slow = waker([&] { ++late; });
  loop.wake_at(slow, in(1h));
  Flag done;
  const auto target = waker([&] { done.raise(); });
  loop.wake_at(target, in(1ms));
  done.await();
  EXPECT_EQ(late, 0);
}

TEST(LoopDeadlineTest, TheEndOfTimeIsNeverDue) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  std::atomic<int> calls{0};
  const auto target = waker([&] { ++calls; });
  loop.wake_at(target, TimePoint::max());
  drain(loop);
  EXPECT_EQ(calls, 0);
}

TEST(LoopDeadlineTest, WakesOnceOnly) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  std::atomic<int> calls{0};
  const auto target = waker([&] { ++calls; });
  loop.wake_at(target, in(0ms));
  drain(loop);
  drain(loop);
  EXPECT_EQ(calls, 1);
}

TEST(LoopDeadlineTest, NewDeadlineReplacesTheOld) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  std::atomic<int> calls{0};
  const auto later = waker([&] { ++calls; });
  const auto sooner = waker([&] { ++calls; });
  {
    Busy busy(loop);
    loop.wake_at(later, in(0ms));
    loop.wake_at(later, in(1h));
    loop.wake_at(sooner, in(1h));
    loop.wake_at(sooner, in(0ms));
    busy.release();
    drain(loop);
  }
  EXPECT_EQ(calls, 1);
}

TEST(LoopDeadlineTest, ForgottenTargetIsNotWoken) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  std::atomic<int> calls{0};
  const auto target = waker([&] { ++calls; });
  Busy busy(loop);
  loop.wake_at(target, in(0ms));
  loop.forget(target.get());
  loop.forget(target.get());  // twice is no error
  busy.release();
  drain(loop);
  EXPECT_EQ(calls, 0);
}

TEST(LoopDeadlineTest, DeadTargetIsNotKeptAliveNorWoken) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  std::atomic<int> calls{0};
  auto target = waker([&] { ++calls; });
  const std::weak_ptr<Wakeable> alive = target;
  Busy busy(loop);
  loop.wake_at(target, in(0ms));
  target.reset();
  EXPECT_TRUE(alive.expired());
  busy.release();
  drain(loop);
  EXPECT_EQ(calls, 0);
}

TEST(LoopDeadlineTest, TargetMaySetItsNextDeadlineWhenWoken) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  int calls = 0;
  Flag done;
  std::shared_ptr<Wakeable> target;
  target = waker([&] {
    if (++calls == 3) {
      done.raise();
    } else {
      loop.wake_at(target, in(0ms));
    }
  });
  loop.wake_at(target, in(0ms));
  done.await();
  EXPECT_EQ(calls, 3);
}

TEST(LoopDeadlineTest, ManyThreadsMaySetAndForget) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&loop] {
      const auto mine = waker([] {});
      for (int i = 0; i < 500; ++i) {
        loop.wake_at(mine, in(std::chrono::microseconds(i % 7)));
        if (i % 3 == 0) loop.forget(mine.get());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  drain(loop);
}

TEST(LoopTest, RunsNoSignalHandlersOfTheApplication) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  sigset_t mask{};
  Flag done;
  const auto target = waker([&] {
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    done.raise();
  });
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  loop.wake_at(target, in(0ms));
  done.await();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGPIPE, SIGUSR1}) {
    EXPECT_EQ(sigismember(&mask, signal), 1) << signal;
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

TEST(LoopTest, WithoutDescriptorsItIsAnErrorNotAnException) {
  CORDON_SKIP_IF_SANITIZER_NEEDS_DESCRIPTORS();
  rlimit own{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &own), 0);
  rlimit none = own;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto made = Loop::make();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &own), 0);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(made.error().os_error, EMFILE);
}

TEST(LoopTest, EndsWithDeadlinesAndWatchesPending) {
  const Pipe pipe;
  auto loop = Loop::make().value();
  const auto target = waker([] {});
  loop->wake_at(target, in(1h));
  auto watch = std::make_unique<Loop::Watch>(*loop, pipe.reader.get());
  watch->when_readable([] { FAIL() << "nothing was written"; });
  watch.reset();
  loop.reset();
}

TEST(LoopWatchTest, TellsOnceWhenReadable) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  const Pipe pipe;
  std::atomic<int> calls{0};
  Flag done;
  Loop::Watch watch(loop, pipe.reader.get());
  watch.when_readable([&] {
    ++calls;
    done.raise();
  });
  drain(loop);
  EXPECT_EQ(calls, 0);
  pipe.write();
  done.await();
  pipe.write();
  drain(loop);
  EXPECT_EQ(calls, 1);
}

TEST(LoopWatchTest, TellsAtOnceWhatIsAlreadyReadable) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  const Pipe pipe;
  pipe.write();
  Loop::Watch watch(loop, pipe.reader.get());
  for (int i = 0; i < 3; ++i) {  // nobody reads: it stays so
    Flag done;
    watch.when_readable([&] { done.raise(); });
    done.await();
  }
}

TEST(LoopWatchTest, EndOfFileIsReadable) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  Pipe pipe;
  Flag done;
  Loop::Watch watch(loop, pipe.reader.get());
  watch.when_readable([&] { done.raise(); });
  pipe.writer.reset();
  done.await();
}

TEST(LoopWatchTest, TellsWhenThereIsRoomToWrite) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  const Pipe pipe;
  const std::string block(4096, 'x');
  while (::write(pipe.writer.get(), block.data(), block.size()) > 0) {
  }
  std::atomic<int> calls{0};
  Flag done;
  Loop::Watch watch(loop, pipe.writer.get());
  watch.when_writable([&] {
    ++calls;
    done.raise();
  });
  drain(loop);
  EXPECT_EQ(calls, 0);
  std::string taken(64 * 1024, ' ');
  EXPECT_GT(::read(pipe.reader.get(), taken.data(), taken.size()), 0);
  done.await();
}

TEST(LoopWatchTest, DestroyingItWithdrawsWhatIsPending) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  const Pipe pipe;
  std::atomic<int> calls{0};
  auto watch = std::make_unique<Loop::Watch>(loop, pipe.reader.get());
  watch->when_readable([&] { ++calls; });
  Busy busy(loop);
  pipe.write();
  watch.reset();
  busy.release();
  drain(loop);
  EXPECT_EQ(calls, 0);
  EXPECT_NE(::fcntl(pipe.reader.get(), F_GETFD), -1) << "the descriptor is not the watch's own";
}

TEST(LoopWatchTest, OneCallbackMayDestroyAnothersWatch) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  const Pipe pipes[2];
  std::atomic<int> calls{0};
  Flag done;
  std::unique_ptr<Loop::Watch> watches[2];
  for (int i = 0; i < 2; ++i) {
    watches[i] = std::make_unique<Loop::Watch>(loop, pipes[i].reader.get());
  }
  Busy busy(loop);
  for (int i = 0; i < 2; ++i) {
    watches[i]->when_readable([&, other = 1 - i] {
      ++calls;
      watches[other].reset();
      done.raise();
    });
    pipes[i].write();
  }
  busy.release();  // both are found ready at once
  done.await();
  drain(loop);
  EXPECT_EQ(calls, 1);
}

TEST(LoopWatchTest, DescriptorMayBeWatchedAgain) {
  const auto made = Loop::make().value();
  Loop& loop = *made;
  const Pipe pipe;
  pipe.write();
  for (int i = 0; i < 10; ++i) {
    Flag done;
    Loop::Watch watch(loop, pipe.reader.get());
    watch.when_readable([&] { done.raise(); });
    done.await();
  }
}

TEST(LoopWatchTest, SaysWhenTheKernelWillNotWatch) {
  const auto made = Loop::make().value();
  const Pipe pipe;
  EXPECT_TRUE(Loop::Watch(*made, pipe.reader.get()).watching());
  constexpr int kNeverOpen = 1'000'000;
  EXPECT_FALSE(Loop::Watch(*made, kNeverOpen).watching());
}

}  // namespace
}  // namespace cordon::supervise
