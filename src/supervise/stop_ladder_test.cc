#include "supervise/stop_ladder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

#include "cordon/request.h"

namespace cordon::supervise {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kNow{1000s};

TEST(StopLadderTest, RestsUntilItIsBegun) {
  StopLadder ladder;
  EXPECT_EQ(ladder.next(), std::nullopt);
  EXPECT_EQ(ladder.cause(), std::nullopt);
  EXPECT_EQ(ladder.on_time(kNow), 0);
}

TEST(StopLadderTest, TermThenGraceThenKill) {  // C33
  StopLadder ladder;
  EXPECT_EQ(ladder.begin(Verdict::timeout, kNow, 5s), SIGTERM);
  EXPECT_EQ(ladder.cause(), Verdict::timeout);
  EXPECT_EQ(ladder.next(), kNow + 5s);
  EXPECT_EQ(ladder.on_time(kNow + 5s - 1ns), 0);
  EXPECT_EQ(ladder.next(), kNow + 5s) << "still to come";
  EXPECT_EQ(ladder.on_time(kNow + 5s), SIGKILL);
  EXPECT_EQ(ladder.next(), std::nullopt);
  EXPECT_EQ(ladder.on_time(kNow + 1h), 0) << "killed once";
}

TEST(StopLadderTest, WithoutGraceItKillsAtOnce) {
  for (const Duration grace : {Duration{0}, Duration{-1}}) {
    StopLadder ladder;
    EXPECT_EQ(ladder.begin(Verdict::output, kNow, grace), SIGKILL);
    EXPECT_EQ(ladder.next(), std::nullopt);
    EXPECT_EQ(ladder.on_time(kNow + 1h), 0);
    EXPECT_EQ(ladder.cause(), Verdict::output);
  }
}

TEST(StopLadderTest, FirstCauseStays) {
  StopLadder ladder;
  EXPECT_EQ(ladder.begin(Verdict::cancelled, kNow, 5s), SIGTERM);
  EXPECT_EQ(ladder.begin(Verdict::timeout, kNow + 1s, 5s), 0) << "SIGTERM is sent once";
  EXPECT_EQ(ladder.cause(), Verdict::cancelled);
}

TEST(StopLadderTest, HurryingShortensTheGrace) {
  StopLadder ladder;
  EXPECT_EQ(ladder.begin(Verdict::timeout, kNow, 10s), SIGTERM);
  EXPECT_EQ(ladder.begin(Verdict::cancelled, kNow + 1s, 2s), 0);
  EXPECT_EQ(ladder.next(), kNow + 3s);
}

TEST(StopLadderTest, ALongerGraceDoesNotProlongIt) {
  StopLadder ladder;
  EXPECT_EQ(ladder.begin(Verdict::timeout, kNow, 5s), SIGTERM);
  EXPECT_EQ(ladder.begin(Verdict::cancelled, kNow + 1s, 1h), 0);
  EXPECT_EQ(ladder.next(), kNow + 5s);
  EXPECT_EQ(ladder.begin(Verdict::cancelled, kNow + 1s, kNoTimeout), 0);
  EXPECT_EQ(ladder.next(), kNow + 5s);
}

TEST(StopLadderTest, KillCutsTheGraceShort) {
  StopLadder ladder;
  EXPECT_EQ(ladder.begin(Verdict::timeout, kNow, 5s), SIGTERM);
  EXPECT_EQ(ladder.begin(Verdict::cancelled, kNow + 1s, 0s), SIGKILL);
  EXPECT_EQ(ladder.cause(), Verdict::timeout);
  EXPECT_EQ(ladder.next(), std::nullopt);
  EXPECT_EQ(ladder.on_time(kNow + 5s), 0);
}

TEST(StopLadderTest, NothingFollowsSigkill) {
  StopLadder ladder;
  EXPECT_EQ(ladder.begin(Verdict::output, kNow, 0s), SIGKILL);
  EXPECT_EQ(ladder.begin(Verdict::cancelled, kNow, 5s), 0);
  EXPECT_EQ(ladder.begin(Verdict::cancelled, kNow, 0s), 0);
  EXPECT_EQ(ladder.next(), std::nullopt);
}

TEST(StopLadderTest, InfiniteGraceNeverKillsUntilHurried) {
  StopLadder ladder;
  EXPECT_EQ(ladder.begin(Verdict::cancelled, kNow, kNoTimeout), SIGTERM);
  EXPECT_EQ(ladder.next(), TimePoint::max()) << "no overflow into the past";
  EXPECT_EQ(ladder.on_time(kNow + 24h * 365), 0);
  EXPECT_EQ(ladder.begin(Verdict::timeout, kNow + 1s, 2s), 0);
  EXPECT_EQ(ladder.next(), kNow + 3s);
  EXPECT_EQ(ladder.on_time(kNow + 3s), SIGKILL);
}

}  // namespace
}  // namespace cordon::supervise
