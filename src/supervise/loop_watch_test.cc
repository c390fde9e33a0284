// Descriptors that the loop watches.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>

#include "supervise/loop.h"
#include "supervise/loop_test_support.h"

namespace cordon::supervise {
namespace {

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
