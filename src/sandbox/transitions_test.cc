#include "sandbox/transitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "sandbox/transitions_docs.h"

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

// The docs show what the code does. CORDON_WRITE_DOCS=1 writes them anew.

constexpr const char* kGuide = CORDON_DOCS "/sandboxes.md";
constexpr const char* kPicture = CORDON_DOCS "/images/sandbox-states.svg";

std::string content(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Transitions, TheTableInTheDocsIsThisOne) {
  constexpr std::string_view kBegin =
      "<!-- transitions: made from src/sandbox/transitions.cc -->\n";
  constexpr std::string_view kEnd = "<!-- /transitions -->";
  std::string guide = content(kGuide);
  const std::size_t begin = guide.find(kBegin);
  const std::size_t end = guide.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::size_t table = begin + kBegin.size();
  if (std::getenv("CORDON_WRITE_DOCS") != nullptr) {
    guide.replace(table, end - table, as_markdown());
    std::ofstream(kGuide) << guide;
    return;
  }
  EXPECT_EQ(guide.substr(table, end - table), as_markdown());
}

TEST(Transitions, ThePictureInTheDocsIsOfThisTable) {
  if (std::getenv("CORDON_WRITE_DOCS") != nullptr) {
    std::ofstream(kPicture) << as_svg();
    return;
  }
  EXPECT_EQ(content(kPicture), as_svg());
}

}  // namespace
}  // namespace cordon::sandbox
