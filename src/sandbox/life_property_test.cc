// Any operations, in any order, from several threads: what the table promises holds all the time.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "sandbox/test_life.h"

namespace cordon::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr int kThreads = 4;
constexpr int kSteps = 60;
constexpr int kRounds = 25;

// Which states can be reached from which, by any number of steps of the table.
bool reachable(SandboxState from, SandboxState to) {
  std::vector<SandboxState> seen = {from};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == to) return true;
    for (const Row& row : table()) {
      const Effect found = effect(row.operation, seen[i]);
      if (found.kind == Effect::Kind::refused) continue;
      for (const SandboxState next : {found.success, found.failure}) {
        if (std::ranges::find(seen, next) == seen.end()) seen.push_back(next);
      }
    }
  }
  return false;
}

struct Shared {
  explicit Shared(Life& sandbox) : life(sandbox) {}
  Life& life;
  std::atomic<int> lives{0};  // successful create and restore
  std::atomic<int> ends{0};   // successful checkpoint that ended it
  std::atomic<bool> removed{false};
  std::atomic<int> images{0};
};

class Actor {
 public:
  Actor(Shared& shared, const TestFolder& folder, unsigned seed)
      : shared_(shared), folder_(folder), random_(seed) {}

  void act() {
    for (int i = 0; i < kSteps; ++i) {
      look();
      const bool was_removed = shared_.removed;
      const auto result = step();
      // Once remove() has returned, nothing works any more.
      if (was_removed && result) {
        EXPECT_TRUE(harmless_) << "after remove()";
      }
      look();
    }
  }

 private:
  void look() {
    const SandboxState now = shared_.life.state();
    EXPECT_TRUE(reachable(last_, now)) << to_string(last_) << " to " << to_string(now);
    last_ = now;
    const std::string id = shared_.life.container_id();
    if (now == SandboxState::running) {
      EXPECT_NE(id, "");
    }
    const auto main = shared_.life.main();
    const auto all = shared_.life.processes();
    if (main && !all.empty()) {
      EXPECT_EQ(all.front(), main);
    }
  }

  [[nodiscard]] Result<void> step() {
    const auto done = [](const auto& result) -> Result<void> {
      if (result) return {};
      EXPECT_NE(result.error().message, "");
      return std::unexpected(result.error());
    };
    Life& life = shared_.life;
    harmless_ = false;
    const auto image = [this] {
      return folder_ / ("image" + std::to_string(shared_.images.fetch_add(1)));
    };
    switch (std::uniform_int_distribution<int>(0, 40)(random_)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const auto created = life.create();
        shared_.lives += created ? 1 : 0;
        return done(created);
      }
      case 4: {
        const auto restored = life.restore(folder_ / "good");
        shared_.lives += restored ? 1 : 0;
        return done(restored);
      }
      case 5: {
        const auto made = life.checkpoint(image(), {});
        shared_.ends += made ? 1 : 0;
        return done(made);
      }
      case 6:
      case 7:
      case 8:
      case 9:
        return done(life.checkpoint(image(), {.leave_running = true}));
      case 10:
        return done(life.stop(1ms));
      case 11: {
        harmless_ = true;
        const auto removed = life.remove();
        EXPECT_TRUE(removed);
        shared_.removed = true;
        return done(removed);
      }
      case 12:
      case 13:
      case 14:
      case 15:
      case 16:
        return done(life.write_stdin("x", 1ms));
      case 17:
      case 18:
      case 19:
      case 20:
      case 21:
      case 22: {
        const auto main = life.main();
        return done(life.connect(main ? main->id() : 1));
      }
      default:
        return done(life.execute({.program = "other", .timeout = kNoTimeout}));
    }
  }

  Shared& shared_;
  const TestFolder& folder_;
  std::mt19937 random_;
  SandboxState last_ = SandboxState::initialized;
  bool harmless_ = false;
};

using LifeProperty = LifeTest;

TEST_F(LifeProperty, TheTableHoldsWhateverThreadsDo) {
  {
    auto first = make("reader");
    ASSERT_TRUE(first->create());
    ASSERT_TRUE(first->checkpoint(folder_ / "good", {}));
  }
  for (unsigned round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    auto life = make("reader");
    Shared shared(*life);
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] { Actor(shared, folder_, (round * kThreads) + i).act(); });
      }
    }
    EXPECT_LE(shared.lives, 1);  // an object lives once
    EXPECT_LE(shared.ends, shared.lives);
    EXPECT_TRUE(life->remove());
    EXPECT_EQ(life->state(), SandboxState::stopped);
    EXPECT_TRUE(nothing_is_left());
  }
}

}  // namespace
}  // namespace cordon::sandbox
