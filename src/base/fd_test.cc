#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace cordon::base {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }
int some_fd() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(FdTest, ClosesWhatItOwns) {  // C74
  const int raw = some_fd();
  {
    const Fd fd(raw);
    EXPECT_TRUE(fd);
    EXPECT_EQ(fd.get(), raw);
    EXPECT_TRUE(is_open(raw));
  }
  EXPECT_FALSE(is_open(raw));
}

TEST(FdTest, IsEmptyByDefaultAndForAFailedCall) {
  EXPECT_FALSE(Fd());
  EXPECT_FALSE(Fd(-1));
  EXPECT_EQ(Fd().get(), -1);
}

TEST(FdTest, DescriptorZeroCountsAsOpen) {
  Fd fd(0);
  EXPECT_TRUE(fd);
  EXPECT_EQ(fd.release(), 0);  // not ours to close
}

TEST(FdTest, MovingLeavesTheSourceEmpty) {
  Fd from(some_fd());
  const int raw = from.get();
  const Fd to(std::move(from));
  EXPECT_FALSE(from);  // NOLINT(bugprone-use-after-move): the subject of this test
  EXPECT_EQ(to.get(), raw);
  EXPECT_TRUE(is_open(raw));
}

TEST(FdTest, AssigningClosesWhatWasThere) {
  Fd target(some_fd());
  const int before = target.get();
  Fd source(some_fd());
  const int raw = source.get();
  target = std::move(source);
  EXPECT_FALSE(is_open(before));
  EXPECT_TRUE(is_open(raw));
  EXPECT_EQ(target.get(), raw);
}

TEST(FdTest, AssigningToItselfKeepsItOpen) {
  Fd fd(some_fd());
  const int raw = fd.get();
  Fd& same = fd;
  fd = std::move(same);
  EXPECT_EQ(fd.get(), raw);
  EXPECT_TRUE(is_open(raw));
}

TEST(FdTest, ReleasedDescriptorStaysOpen) {
  int raw = -1;
  {
    Fd fd(some_fd());
    raw = fd.release();
    EXPECT_FALSE(fd);
  }
  EXPECT_TRUE(is_open(raw));
  ::close(raw);
}

TEST(FdTest, ResetClosesAndTakesTheNewOne) {
  Fd fd(some_fd());
  const int before = fd.get();
  const int next = some_fd();
  fd.reset(next);
  EXPECT_FALSE(is_open(before));
  EXPECT_EQ(fd.get(), next);
  fd.reset();
  EXPECT_FALSE(is_open(next));
}

TEST(MoveUpTest, MovesALowDescriptorTo64OrAbove) {
  Fd low(some_fd());
  const int raw = low.get();
  ASSERT_LT(raw, 64);
  const Fd high = move_up(std::move(low));
  EXPECT_GE(high.get(), 64);
  EXPECT_TRUE(is_open(high.get()));
  EXPECT_FALSE(is_open(raw)) << "the low number has to be free again";
  EXPECT_EQ(::fcntl(high.get(), F_GETFD), FD_CLOEXEC);
}

TEST(MoveUpTest, LeavesAHighDescriptorWhereItIs) {
  Fd high(::fcntl(Fd(some_fd()).get(), F_DUPFD_CLOEXEC, 200));
  const int raw = high.get();
  ASSERT_GE(raw, 200);
  EXPECT_EQ(move_up(std::move(high)).get(), raw);
}

TEST(MoveUpTest, PassesOnAnEmptyOne) { EXPECT_FALSE(move_up(Fd())); }

}  // namespace
}  // namespace cordon::base
