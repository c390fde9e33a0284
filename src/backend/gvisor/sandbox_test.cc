#include "backend/gvisor/sandbox.h"

#include <gtest/gtest.h>

namespace cordon::gvisor_backend {
namespace {

TEST(StateOfAContainer, IsReadFromItsFile) {
  const auto state = parse_state(
      R"({"id":"x","status":"running","goferPid":15768,"sandbox":{"id":"x","pid":15769}})");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->status, "running");
  EXPECT_EQ(state->gofer, 15768);
  EXPECT_EQ(state->sandbox, 15769);
}

TEST(StateOfAContainer, IsNotGuessed) {
  EXPECT_FALSE(parse_state(""));
  EXPECT_FALSE(parse_state(R"({"id":"x","status":"runn)"));
  EXPECT_FALSE(parse_state(R"(["running"])"));
  EXPECT_FALSE(parse_state(R"({"status":3})"));
  const auto created = parse_state(R"({"status":"created","goferPid":"7"})");
  ASSERT_TRUE(created);
  EXPECT_EQ(created->gofer, -1);
  EXPECT_EQ(created->sandbox, -1);
}

}  // namespace
}  // namespace cordon::gvisor_backend
