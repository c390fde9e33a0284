// Who gets a place in a pool, who is told at once that there will be none, and in what words.
#include "pool_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>
#include <vector>

#include "pool_busy.h"
#include "support/eventually.h"

namespace cordon::app::pool {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using support::eventually;
using testing::HasSubstr;

constexpr Duration kPatient = seconds(20);

// A client that is there, and silent.
class Client {
 public:
  Client() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours_ = base::Fd(ends[0]);
    theirs_ = base::Fd(ends[1]);
  }
  [[nodiscard]] int fd() const { return ours_.get(); }
  void go() { theirs_.reset(); }

 private:
  base::Fd ours_;
  base::Fd theirs_;
};

TEST(PoolPace, SaysNothingBeforeEnoughHaveEnded) {
  Pace pace;
  for (int i = 0; i < 4; ++i) pace.add(seconds(1));
  EXPECT_FALSE(pace.expected(0, 1));
  pace.add(seconds(1));
  EXPECT_EQ(pace.expected(0, 1), seconds(1));
}

TEST(PoolPace, CountsWhoIsBeforeAndHowManyPlacesThereAre) {
  Pace pace;
  for (int i = 0; i < 20; ++i) pace.add(seconds(2));
  EXPECT_EQ(pace.expected(0, 4), milliseconds(500));
  EXPECT_EQ(pace.expected(7, 4), seconds(4));
  EXPECT_EQ(pace.expected(1'000'000, 1), hours(24));
}

TEST(PoolPace, IsThatOfMostAndOfLate) {
  Pace pace;
  for (int i = 0; i < 8; ++i) pace.add(milliseconds(10));
  for (int i = 0; i < 7; ++i) pace.add(hours(5));
  EXPECT_EQ(pace.expected(0, 1), milliseconds(10));
  for (int i = 0; i < 8; ++i) pace.add(seconds(3));
  EXPECT_GT(pace.expected(0, 1), seconds(2));
}

TEST(PoolSlots, WhoComesFirstIsServedFirst) {
  Slots slots(1, 8);
  const Client client;
  ASSERT_EQ(slots.acquire(client.fd(), kPatient).got, Slots::Got::place);
  std::vector<int> order;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_EQ(slots.acquire(client.fd(), kPatient).got, Slots::Got::place);
      order.push_back(i);  // there is but one place
      slots.release(milliseconds(1));
    });
    ASSERT_TRUE(eventually([&] { return slots.counts().waiting == threads.size(); }));
  }
  slots.release(milliseconds(1));
  threads.clear();
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(slots.counts().running, 0U);
}

TEST(PoolSlots, NoMoreThanMayWait) {
  Slots slots(1, 1);
  Client client;
  ASSERT_EQ(slots.acquire(client.fd(), kPatient).got, Slots::Got::place);
  std::jthread waits(
      [&] { EXPECT_EQ(slots.acquire(client.fd(), kPatient).got, Slots::Got::gone); });
  ASSERT_TRUE(eventually([&] { return slots.counts().waiting == 1; }));
  const Client another;
  const Slots::Answer full = slots.acquire(another.fd(), kPatient);
  EXPECT_EQ(full.got, Slots::Got::full);
  EXPECT_THAT(why_busy(full, slots.places(), kPatient),
              HasSubstr("(1 of 1 places are taken, 1 wait), and no more may wait: try again"));
  client.go();
  waits.join();
  EXPECT_EQ(slots.counts().waiting, 0U);
}

TEST(PoolSlots, AFreePlaceIsNeverHopeless) {
  Slots slots(1, 8);
  const Client client;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(slots.acquire(client.fd(), Duration{0}).got, Slots::Got::place);
    slots.release(hours(1));
  }
}

TEST(PoolSlots, WhoWouldWaitTooLongIsToldAtOnce) {
  Slots slots(2, 8);
  const Client client;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(slots.acquire(client.fd(), kPatient).got, Slots::Got::place);
    slots.release(hours(1));
  }
  ASSERT_EQ(slots.acquire(client.fd(), kPatient).got, Slots::Got::place);
  ASSERT_EQ(slots.acquire(client.fd(), kPatient).got, Slots::Got::place);
  const Slots::Answer hopeless = slots.acquire(client.fd(), kPatient);
  EXPECT_EQ(hopeless.got, Slots::Got::hopeless);
  EXPECT_EQ(hopeless.expected, std::chrono::minutes(30));
  EXPECT_THAT(why_busy(hopeless, slots.places(), kPatient),
              HasSubstr("(2 of 2 places are taken, 0 wait), and as long as programs ran of late "
                        "there would be no place before 30m, while this run waits for 20s"));
  // Who is patient enough, waits.
  std::jthread waits(
      [&] { EXPECT_EQ(slots.acquire(client.fd(), hours(1)).got, Slots::Got::place); });
  ASSERT_TRUE(eventually([&] { return slots.counts().waiting == 1; }));
  slots.release(hours(1));
}

TEST(PoolSlots, WhoGivesUpLeavesThePlaceToTheNext) {
  Slots slots(1, 8);
  const Client client;
  ASSERT_EQ(slots.acquire(client.fd(), kPatient).got, Slots::Got::place);
  const Slots::Answer late = slots.acquire(client.fd(), milliseconds(20));
  EXPECT_EQ(late.got, Slots::Got::late);
  EXPECT_THAT(why_busy(late, slots.places(), milliseconds(20)),
              HasSubstr("there was no place within the 20ms that this run waits: try again later, "
                        "start the pool with a larger --size, or use --pool auto"));
  slots.release(milliseconds(1));
  EXPECT_EQ(slots.acquire(client.fd(), kPatient).got, Slots::Got::place);
}

TEST(PoolSlots, NobodyWaitsForAServiceThatStops) {
  Slots slots(1, 2);
  const Client client;
  ASSERT_EQ(slots.acquire(client.fd(), Duration{0}).got, Slots::Got::place);
  std::jthread waits(
      [&] { EXPECT_EQ(slots.acquire(client.fd(), kPatient).got, Slots::Got::closing); });
  ASSERT_TRUE(eventually([&] { return slots.counts().waiting == 1; }));
  slots.close();
  waits.join();
  EXPECT_EQ(slots.acquire(client.fd(), Duration{0}).got, Slots::Got::closing);
}

}  // namespace
}  // namespace cordon::app::pool
