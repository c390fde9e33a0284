// Deadlines, and the loop as a whole.
#include "supervise/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "supervise/loop_test_support.h"
#include "support/needs_descriptors.h"

namespace cordon::supervise {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;

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

}  // namespace
}  // namespace cordon::supervise
