#include "execution/live_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

namespace cordon::execution {
namespace {

class LiveRunsTest : public testing::Test {
 protected:
  LiveRunsTest() {
    char name[] = "/tmp/cordon-live-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~LiveRunsTest() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return folder_ / "a" / "live"; }

  std::filesystem::path folder_;
};

TEST_F(LiveRunsTest, SoManyAndNoMoreAreAliveAtOnce) {  // C124
  const auto runs = LiveRuns::open(path());
  ASSERT_TRUE(runs) << runs.error().message;
  std::vector<LiveRun> alive;
  for (int i = 0; i < 10; ++i) {
    auto run = runs->enter("policy", 10);
    ASSERT_TRUE(run) << run.error().message;
    alive.push_back(*std::move(run));
  }
  const auto eleventh = runs->enter("policy", 10);
  ASSERT_FALSE(eleventh);
  EXPECT_EQ(eleventh.error().code, ErrorCode::resource_exhausted);
  EXPECT_THAT(eleventh.error().message, testing::HasSubstr("(10)"));
  alive.pop_back();
  EXPECT_TRUE(runs->enter("policy", 10));
}

TEST_F(LiveRunsTest, AreCountedByName) {
  const auto runs = LiveRuns::open(path());
  ASSERT_TRUE(runs);
  const auto one = runs->enter("one", 1);
  EXPECT_TRUE(runs->enter("../one", 1));
  EXPECT_FALSE(runs->enter("one", 1));
}

TEST_F(LiveRunsTest, ManyThreadsNeverShareASlot) {
  const auto runs = LiveRuns::open(path());
  ASSERT_TRUE(runs);
  std::atomic<int> alive = 0;
  std::atomic<int> most = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 500; ++n) {
          const auto run = runs->enter("policy", 2);
          if (!run) continue;
          const int now = ++alive;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          --alive;
        }
      });
    }
  }
  EXPECT_LE(most, 2);
  EXPECT_GE(most, 1);
}

TEST_F(LiveRunsTest, ADirectoryOfOthersIsRefused) {
  std::filesystem::create_directories(path());
  ::chmod(path().c_str(), 0777);
  const auto runs = LiveRuns::open(path());
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().code, ErrorCode::not_permitted);
}

TEST_F(LiveRunsTest, ALinkIsNotFollowed) {
  std::filesystem::create_symlink("/tmp", folder_ / "a");
  EXPECT_FALSE(LiveRuns::open(path()));
  EXPECT_FALSE(std::filesystem::exists("/tmp/live"));
}

}  // namespace
}  // namespace cordon::execution
