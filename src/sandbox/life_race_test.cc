// Who comes while somebody else changes the sandbox.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <thread>

#include "sandbox/test_life.h"

namespace cordon::sandbox {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto kSoon = 20s;

// Something that goes on in a thread of its own, and what came of it.
class Attempt {
 public:
  explicit Attempt(std::function<Result<void>()> act)
      : thread_([this, act = std::move(act)] {
          auto result = act();
          const std::scoped_lock lock(mutex_);
          result_ = std::move(result);
          done_ = true;
          changed_.notify_all();
        }) {}
  [[nodiscard]] bool done_within(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return done_; });
  }
  [[nodiscard]] Result<void> result() {
    EXPECT_TRUE(done_within(kSoon));
    const std::scoped_lock lock(mutex_);
    return result_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  Result<void> result_;
  std::jthread thread_;
};

template <typename Value>
Result<void> without_value(const Result<Value>& result) {
  if (result) return {};
  return std::unexpected(result.error());
}

// Long enough for a wrong implementation to be caught nearly always; a right one never fails.
constexpr auto kAWhile = 50ms;

using LifeRace = LifeTest;

TEST_F(LifeRace, RemoveDuringCreateWaitsAndNothingIsLeft) {
  auto life = make();
  hand_->hold("create");
  Attempt create([&] { return life->create(); });
  ASSERT_TRUE(hand_->wait_held());
  EXPECT_EQ(life->state(), SandboxState::initialized);
  EXPECT_EQ(life->main(), nullptr);
  Attempt remove([&] { return life->remove(); });
  EXPECT_FALSE(remove.done_within(kAWhile));
  hand_->let_go();
  EXPECT_TRUE(create.result());
  EXPECT_TRUE(remove.result());
  EXPECT_EQ(life->state(), SandboxState::stopped);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(LifeRace, StopDuringCreateStopsWhatWasCreated) {
  auto life = make();
  hand_->hold("create");
  Attempt create([&] { return life->create(); });
  ASSERT_TRUE(hand_->wait_held());
  Attempt stop([&] { return life->stop(1s); });
  EXPECT_FALSE(stop.done_within(kAWhile));
  hand_->let_go();
  EXPECT_TRUE(create.result());
  EXPECT_TRUE(stop.result());
  EXPECT_EQ(life->state(), SandboxState::stopped);
  EXPECT_EQ(manager_.live_programs(), 0U);
}

TEST_F(LifeRace, StopDuringACreateThatFailsIsRefused) {
  auto life = make("no such program");
  hand_->hold("create");
  Attempt create([&] { return life->create(); });
  ASSERT_TRUE(hand_->wait_held());
  Attempt stop([&] { return life->stop(1s); });
  hand_->let_go();
  EXPECT_FALSE(create.result());
  const auto stopped = stop.result();
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error().message, HasSubstr("sandbox work is"));
  EXPECT_EQ(life->state(), SandboxState::failed);
}

TEST_F(LifeRace, OfManyCreatesOneSucceeds) {
  auto life = make();
  std::atomic<int> succeeded{0};
  std::atomic<int> refused{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const auto created = life->create();
        if (created) {
          ++succeeded;
        } else if (created.error().code == ErrorCode::wrong_state) {
          ++refused;
        }
      });
    }
  }
  EXPECT_EQ(succeeded, 1);
  EXPECT_EQ(refused, 7);
  EXPECT_EQ(manager_.live_programs(), 1U);
}

TEST_F(LifeRace, ExecuteDuringCreateWaitsAndRuns) {
  auto life = make();
  hand_->hold("create");
  Attempt create([&] { return life->create(); });
  ASSERT_TRUE(hand_->wait_held());
  Attempt execute([&] { return without_value(life->execute({.program = "other"})); });
  EXPECT_FALSE(execute.done_within(kAWhile));
  hand_->let_go();
  EXPECT_TRUE(create.result());
  EXPECT_TRUE(execute.result());
  EXPECT_EQ(life->processes().size(), 2U);
}

TEST_F(LifeRace, ExecuteDuringACheckpointIsRefusedWhenThatHasEndedIt) {
  auto life = make();
  ASSERT_TRUE(life->create());
  hand_->hold("checkpoint");
  Attempt checkpoint([&] { return life->checkpoint(folder_ / "image", {}); });
  ASSERT_TRUE(hand_->wait_held());
  EXPECT_EQ(life->state(), SandboxState::running);
  Attempt execute([&] { return without_value(life->execute({.program = "other"})); });
  EXPECT_FALSE(execute.done_within(kAWhile));
  hand_->let_go();
  EXPECT_TRUE(checkpoint.result());
  const auto executed = execute.result();
  ASSERT_FALSE(executed);
  EXPECT_EQ(executed.error().code, ErrorCode::wrong_state);
  EXPECT_THAT(executed.error().message, HasSubstr("is checkpointed"));
  EXPECT_EQ(manager_.live_programs(), 0U);
}

TEST_F(LifeRace, ExecuteDuringACheckpointThatLeavesItRunningRunsAfterwards) {
  auto life = make();
  ASSERT_TRUE(life->create());
  hand_->hold("checkpoint");
  Attempt checkpoint([&] { return life->checkpoint(folder_ / "image", {.leave_running = true}); });
  ASSERT_TRUE(hand_->wait_held());
  Attempt execute([&] { return without_value(life->execute({.program = "other"})); });
  Attempt connect([&] { return without_value(life->connect(life->main()->id())); });
  EXPECT_FALSE(execute.done_within(kAWhile));
  EXPECT_FALSE(connect.done_within(1ms));
  hand_->let_go();
  EXPECT_TRUE(checkpoint.result());
  EXPECT_TRUE(execute.result());
  EXPECT_TRUE(connect.result());
}

TEST_F(LifeRace, WritingDuringACheckpointWaitsNoLongerThanAllowed) {
  auto life = make("reader");
  ASSERT_TRUE(life->create());
  hand_->hold("checkpoint");
  Attempt checkpoint([&] { return life->checkpoint(folder_ / "image", {}); });
  ASSERT_TRUE(hand_->wait_held());
  const auto written = life->write_stdin("lost", 1ms);
  ASSERT_TRUE(written);
  EXPECT_EQ(*written, 0U);
  hand_->let_go();
  EXPECT_TRUE(checkpoint.result());
}

TEST_F(LifeRace, OfTwoCheckpointsTheSecondFindsItOver) {
  auto life = make();
  ASSERT_TRUE(life->create());
  hand_->hold("checkpoint");
  Attempt first([&] { return life->checkpoint(folder_ / "one", {}); });
  ASSERT_TRUE(hand_->wait_held());
  Attempt second([&] { return life->checkpoint(folder_ / "two", {}); });
  hand_->let_go();
  EXPECT_TRUE(first.result());
  const auto refused = second.result();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is checkpointed"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "two"));
}

TEST_F(LifeRace, MainEndingDuringACheckpointLeavesNoImage) {
  auto life = make();
  ASSERT_TRUE(life->create());
  hand_->during_checkpoint = [&] { (void)life->main()->kill(); };
  EXPECT_FALSE(life->checkpoint(folder_ / "image", {}));
  EXPECT_EQ(life->state(), SandboxState::stopped);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "image"));
}

TEST_F(LifeRace, RemoveDuringACheckpointWaitsAndOthersAreTurnedAway) {
  auto life = make();
  ASSERT_TRUE(life->create());
  hand_->hold("checkpoint");
  Attempt checkpoint([&] { return life->checkpoint(folder_ / "image", {.leave_running = true}); });
  ASSERT_TRUE(hand_->wait_held());
  Attempt remove([&] { return life->remove(); });
  EXPECT_FALSE(remove.done_within(kAWhile));
  Attempt execute([&] { return without_value(life->execute({.program = "other"})); });
  hand_->let_go();
  EXPECT_TRUE(checkpoint.result());
  EXPECT_TRUE(remove.result());
  const auto executed = execute.result();
  ASSERT_FALSE(executed);
  EXPECT_THAT(executed.error().message, HasSubstr("remove"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "image"));  // images are the user's
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(LifeRace, ACallFromInsideAChangeIsRefusedInsteadOfWaitingForItself) {
  auto life = make("reader");
  ASSERT_TRUE(life->create());
  const auto main = life->main()->id();
  int refused = 0;
  hand_->during_checkpoint = [&] {
    const std::array attempts = {without_value(life->execute({.program = "other"})),
                                 life->stop(1s),
                                 life->remove(),
                                 life->create(),
                                 without_value(life->connect(main)),
                                 without_value(life->write_stdin("x", kNoTimeout)),
                                 life->checkpoint(folder_ / "inner", {})};
    for (const auto& attempt : attempts) {
      ASSERT_FALSE(attempt);
      EXPECT_THAT(attempt.error().message, HasSubstr("would wait for itself"));
      ++refused;
    }
    EXPECT_EQ(life->state(), SandboxState::running);  // looking is allowed
    EXPECT_EQ(life->processes().size(), 1U);
  };
  EXPECT_TRUE(life->checkpoint(folder_ / "image", {.leave_running = true}));
  EXPECT_EQ(refused, 7);
  EXPECT_TRUE(life->stop(1s));
}

// In virtual time that a test moves by hand: the grace does not pass by itself.
class LifeStopping : public testing::Test {
 protected:
  LifeStopping() {
    manager_.add("stubborn", memory::Program().ignore(SIGTERM).hang());
    manager_.add("other", memory::Program().hang());
    // The script says when the signal has come.
    manager_.add("polite", memory::Program()
                               .on_signal(SIGTERM, memory::Program().step([this](memory::Self&) {
                                 asked_to_end_.test_and_set();
                                 asked_to_end_.notify_all();
                               }))
                               .hang());
  }
  memory::Manager manager_{{.self_advancing = false}};
  std::atomic_flag asked_to_end_;
};

TEST_F(LifeStopping, WhileItIsStoppedNothingNewIsStartedAndRemoveMakesItShort) {
  Life life(make_manager_engine(manager_), {.program = "polite", .timeout = kNoTimeout}, "work",
            {});
  ASSERT_TRUE(life.create());
  manager_.advance(0s);
  Attempt stop([&] { return life.stop(1h); });
  asked_to_end_.wait(false);
  EXPECT_EQ(life.state(), SandboxState::running);
  const auto executed = life.execute({.program = "other"});
  ASSERT_FALSE(executed);
  EXPECT_THAT(executed.error().message, HasSubstr("is being stopped: execute is not possible"));
  const auto made = life.checkpoint("/nowhere", {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("is being stopped"));
  EXPECT_TRUE(life.remove());
  EXPECT_TRUE(stop.result());
  EXPECT_EQ(life.state(), SandboxState::stopped);
  EXPECT_EQ(manager_.live_programs(), 0U);
}

TEST_F(LifeStopping, ASecondStopMayBeShorter) {
  Life life(make_manager_engine(manager_), {.program = "polite", .timeout = kNoTimeout}, "work",
            {});
  ASSERT_TRUE(life.create());
  manager_.advance(0s);
  Attempt stop([&] { return life.stop(1h); });
  asked_to_end_.wait(false);
  EXPECT_TRUE(life.stop(0s));
  EXPECT_TRUE(stop.result());
}

TEST_F(LifeStopping, WhoDoesNotListenIsKilledAfterTheGrace) {
  memory::Manager manager;
  manager.add("stubborn", memory::Program().ignore(SIGTERM).hang());
  Life life(make_manager_engine(manager), {.program = "stubborn"}, "work", {});
  ASSERT_TRUE(life.create());
  manager.advance(0s);
  EXPECT_TRUE(life.stop(3s));
  EXPECT_EQ(life.main()->outcome()->verdict, Verdict::cancelled);
  EXPECT_EQ(life.main()->outcome()->wall, 3s);
}

}  // namespace
}  // namespace cordon::sandbox
