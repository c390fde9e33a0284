#include "sandbox/transitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace cordon::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;
using enum SandboxState;

TEST(Transitions, NothingComesBackToInitialized) {
  for (const Row& row : table()) {
    for (std::size_t from = 1; from < kStates; ++from) {
      if (row.effects[from].kind == Effect::Kind::refused) continue;
      EXPECT_NE(row.effects[from].success, initialized) << row.name;
      EXPECT_NE(row.effects[from].failure, initialized) << row.name;
    }
  }
}

TEST(Transitions, RemovingAndLookingArePossibleInEveryState) {
  for (const SandboxState state : kAllStates) {
    for (const Operation operation :
         {Operation::remove, Operation::ls, Operation::ps, Operation::logs}) {
      EXPECT_EQ(effect(operation, state).kind, Effect::Kind::done)
          << to_string(operation) << " " << cordon::to_string(state);
    }
  }
}

TEST(Transitions, WhatIsOverStaysOver) {
  for (const SandboxState state : {checkpointed, stopped, failed}) {
    for (const Row& row : table()) {
      if (row.operation == Operation::remove) continue;
      const Effect& found = row.effects[static_cast<std::size_t>(state)];
      if (found.kind == Effect::Kind::refused) continue;
      EXPECT_EQ(found.success, state) << row.name;
    }
  }
}

TEST(Transitions, EachOperationAndStateHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Row& row : table()) names.insert(row.name);
  for (const SandboxState state : kAllStates) names.insert(cordon::to_string(state));
  EXPECT_EQ(names.size(), kOperations + kStates);
  EXPECT_EQ(names.count(""), 0U);
}

TEST(Transitions, ARefusalNamesStateOperationAndWhatIsPossible) {
  const Error error =
      refusal(Operation::execute, stopped, "work", "its main program exited with 3");
  EXPECT_EQ(error.code, ErrorCode::wrong_state);
  EXPECT_EQ(error.message,
            "sandbox work is stopped (its main program exited with 3): execute is not possible; "
            "possible now: stop, remove, ls, ps, logs");
  EXPECT_EQ(possible_in(initialized), "create, restore, remove, ls, ps, logs");
  EXPECT_EQ(possible_in(running),
            "execute, connect, write_stdin, checkpoint, stop, remove, ls, ps, logs");
  EXPECT_THAT(possible_in(failed), Not(HasSubstr("create")));
}

}  // namespace
}  // namespace cordon::sandbox
