// Every operation in every state, on scripted programs, against the table.
#include <gmock/gmock.h>

#include <cctype>

#include "sandbox/test_life.h"

namespace cordon::sandbox {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Case {
  Operation operation;
  SandboxState state;
};

class EveryTransition : public LifeTest, public testing::WithParamInterface<Case> {
 protected:
  // A life that has come to `state`.
  [[nodiscard]] std::unique_ptr<Life> life_in(SandboxState state) {
    auto life = make(state == SandboxState::failed ? "no such program" : "reader");
    if (state == SandboxState::initialized) return life;
    const bool created = life->create().has_value();
    EXPECT_EQ(created, state != SandboxState::failed);
    if (state == SandboxState::checkpointed) {
      EXPECT_TRUE(life->checkpoint(folder_ / "first", {}));
    }
    if (state == SandboxState::stopped) {
      EXPECT_TRUE(life->stop(1s));
    }
    EXPECT_EQ(life->state(), state);
    return life;
  }

  void write_an_image() {
    auto other = make("reader");
    ASSERT_TRUE(other->create());
    ASSERT_TRUE(other->checkpoint(folder_ / "image", {}));
    ASSERT_TRUE(other->remove());
  }

  // Does it, in a way that succeeds if it is legal.
  [[nodiscard]] Result<void> apply(Life& life, Operation operation) {
    const auto done = [](const auto& result) -> Result<void> {
      if (result) return {};
      return std::unexpected(result.error());
    };
    switch (operation) {
      case Operation::create:
        return life.create();
      case Operation::restore:
        return life.restore(folder_ / "image");
      case Operation::execute:
        return done(life.execute({.program = "other"}));
      case Operation::connect:
        return done(life.connect(life.main() ? life.main()->id() : 1));
      case Operation::write_stdin:
        return done(life.write_stdin("hello", 1s));
      case Operation::checkpoint:
        return life.checkpoint(folder_ / "second", {});
      case Operation::checkpoint_leave_running:
        return life.checkpoint(folder_ / "second", {.leave_running = true});
      case Operation::stop:
        return life.stop(1s);
      case Operation::remove:
        return life.remove();
      case Operation::ls:
        (void)life.container_id();
        (void)life.state();
        return {};
      case Operation::ps:
        EXPECT_EQ(life.processes().empty(), life.main() == nullptr);
        return {};
      case Operation::logs:
        (void)life.main();
        return {};
      case Operation::main_ends:
        if (life.main()) (void)life.main()->kill();
        return {};
      case Operation::engine_breaks:
        hand_->break_engine("the engine is gone");
        return {};
    }
    return {};
  }
};

TEST_P(EveryTransition, IsAsTheTableSays) {
  const auto [operation, state] = GetParam();
  write_an_image();
  auto life = life_in(state);
  const auto before = life->main();
  const auto result = apply(*life, operation);
  const Effect expected = effect(operation, state);
  if (happens_by_itself(operation) && expected.kind == Effect::Kind::refused) {
    EXPECT_EQ(life->state(), state);
    return;
  }
  if (expected.kind != Effect::Kind::refused) {
    EXPECT_TRUE(result) << result.error().message;
    EXPECT_EQ(life->state(), expected.success);
    EXPECT_EQ(life->failure().empty(), expected.success != SandboxState::failed);
    return;
  }
  // Refused: it says so, and nothing has changed.
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::wrong_state);
  EXPECT_THAT(result.error().message,
              HasSubstr("sandbox work is " + std::string(to_string(state))));
  EXPECT_THAT(result.error().message,
              HasSubstr(std::string(to_string(operation)) + " is not possible"));
  EXPECT_THAT(result.error().message, HasSubstr("possible now: " + possible_in(state)));
  EXPECT_EQ(life->state(), state);
  EXPECT_EQ(life->main(), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "second"));
}

TEST_P(EveryTransition, IsRefusedOnceItWasRemoved) {
  const auto [operation, state] = GetParam();
  write_an_image();
  auto life = life_in(state);
  ASSERT_TRUE(life->remove());
  EXPECT_TRUE(nothing_is_left());
  const bool looks = operation == Operation::ls || operation == Operation::ps ||
                     operation == Operation::logs || happens_by_itself(operation);
  const auto result = apply(*life, operation);
  EXPECT_EQ(result.has_value(), looks || operation == Operation::remove);
  if (!result) {
    EXPECT_EQ(result.error().code, ErrorCode::wrong_state);
    EXPECT_THAT(result.error().message, HasSubstr("was removed"));
  }
  EXPECT_EQ(life->state(), SandboxState::stopped);
  EXPECT_TRUE(nothing_is_left());
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Row& row : table()) {
    for (const SandboxState state : kAllStates) {
      cases.push_back({.operation = row.operation, .state = state});
    }
  }
  return cases;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = std::string(to_string(info.param.operation)) + "_when_" +
                     std::string(to_string(info.param.state));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryTransition, testing::ValuesIn(all_cases()), name_of);

// The other way each of them can go.

using TransitionOnError = LifeTest;

TEST_F(TransitionOnError, CreateFails) {
  auto life = make("no such program");
  const auto created = life->create();
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code, ErrorCode::not_found);
  EXPECT_EQ(life->state(), effect(Operation::create, SandboxState::initialized).failure);
  EXPECT_EQ(life->failure(), created.error().message);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(TransitionOnError, RestoreOfADamagedImageFails) {
  {
    auto first = make();
    ASSERT_TRUE(first->create());
    ASSERT_TRUE(first->checkpoint(folder_ / "image", {}));
  }
  std::ofstream(folder_ / "image" / "sandbox", std::ios::app) << "more";
  auto life = make();
  const auto restored = life->restore(folder_ / "image");
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(restored.error().message, HasSubstr("damaged"));
  EXPECT_EQ(life->state(), effect(Operation::restore, SandboxState::initialized).failure);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(TransitionOnError, ACheckpointThatFailsLeavesItRunning) {
  auto life = make();
  ASSERT_TRUE(life->create());
  std::filesystem::create_directory(folder_ / "full");
  std::ofstream(folder_ / "full" / "file") << "x";
  const auto made = life->checkpoint(folder_ / "full", {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(made.error().message, HasSubstr("is not empty"));
  EXPECT_EQ(life->state(), effect(Operation::checkpoint, SandboxState::running).failure);
  EXPECT_TRUE(life->execute({.program = "other"}));
}

TEST_F(TransitionOnError, RestoreOfAnAbsentImageChangesNothing) {
  auto life = make();
  const auto restored = life->restore(folder_ / "nowhere");
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::not_found);
  EXPECT_THAT(restored.error().message, HasSubstr("there is no directory"));
  EXPECT_EQ(life->state(), SandboxState::initialized);
  EXPECT_TRUE(life->create());
}

TEST_F(TransitionOnError, AnEngineWithoutCheckpointsSaysSoAndGoesOn) {
  hand_->no_checkpoint = "this engine keeps no memory";
  auto life = make();
  const auto restored = life->restore(folder_ / "nowhere");
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::unsupported);
  EXPECT_EQ(life->state(), SandboxState::initialized);
  ASSERT_TRUE(life->create());
  const auto made = life->checkpoint(folder_ / "image", {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
  EXPECT_THAT(made.error().message, HasSubstr("this engine keeps no memory"));
  EXPECT_EQ(life->state(), SandboxState::running);
}

}  // namespace
}  // namespace cordon::sandbox
