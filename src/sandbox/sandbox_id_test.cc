#include "sandbox/sandbox_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cordon/sandbox.h"

namespace cordon::sandbox {
namespace {

using testing::HasSubstr;

std::string complaint(std::string_view id) {
  const auto valid = validate_sandbox_id(id);
  if (valid) return {};
  EXPECT_EQ(valid.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(valid.error().stage, "sandbox_id");
  return valid.error().message;
}

TEST(SandboxId, NamesAreOfLettersDigitsAndThreeSigns) {
  for (const std::string_view id : {"a", "0", "work", "agent-7.b_2", "1..2", "a-"}) {
    EXPECT_EQ(complaint(id), "") << id;
  }
  EXPECT_EQ(complaint(std::string(kLongestId, 'a')), "");
}

TEST(SandboxId, RefusesWhatIsNoName) {
  EXPECT_THAT(complaint(""), HasSubstr("it is empty"));
  EXPECT_THAT(complaint(std::string(kLongestId + 1, 'a')), HasSubstr("65 bytes, and 64 are"));
  EXPECT_THAT(complaint("-rf"), HasSubstr("begin it with a letter or digit"));
  EXPECT_THAT(complaint(".hidden"), HasSubstr("begin it with a letter or digit"));
  for (const std::string_view id : {"a b", "a\n", "über", "a:b", "a*", "a\\b", "a%2f"}) {
    EXPECT_THAT(complaint(id), HasSubstr("use a-z, 0-9")) << id;
  }
  EXPECT_THAT(complaint(std::string_view("a\0b", 3)), HasSubstr("use a-z"));
}

TEST(SandboxId, RefusesPaths) {
  for (const std::string_view id : {".", "..", "a/b", "/etc", "../up", "A/b"}) {
    EXPECT_THAT(complaint(id), HasSubstr("not a path")) << id;
  }
}

TEST(SandboxId, RefusesCapitalsAndSaysWhatToUse) {
  EXPECT_THAT(complaint("Work"), HasSubstr("differ only in case; use \"work\""));
}

TEST(SandboxId, AComplaintCannotCommandATerminalOrFillAScreen) {
  const std::string message = complaint(std::string(100'000, '\x1b'));
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_LT(message.size(), 1000U);
}

TEST(SandboxId, ContainerIdsAreNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto id = new_container_id();
    ASSERT_TRUE(id);
    EXPECT_EQ(complaint(*id), "");
    EXPECT_EQ(id->size(), 33U);
    seen.insert(*id);
  }
  EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace
}  // namespace cordon::sandbox
