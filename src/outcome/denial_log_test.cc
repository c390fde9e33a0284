#include "outcome/denial_log.h"

#include <gtest/gtest.h>

#include <string>

namespace cordon::outcome {
namespace {

TEST(DenialLogTest, CountsWhatIsTheSameOnce) {
  DenialLog log;
  log.add({.what = "/a", .access = "read"});
  log.add({.what = "/a", .access = "write"});
  log.add({.what = "/a", .access = "read", .allow = "--read /a"});
  log.add({.kind = Denial::Kind::exec, .what = "/a", .access = "read"});
  ASSERT_EQ(log.denials().size(), 3U);
  EXPECT_EQ(log.denials()[0].count, 2U);
  EXPECT_EQ(log.denials()[1].access, "write");
  EXPECT_EQ(log.omitted(), 0U);
}

TEST(DenialLogTest, IsBoundedAndCountsTheRest) {
  DenialLog log;
  for (int i = 0; i < 1000; ++i) log.add({.what = "/" + std::to_string(i), .access = "read"});
  log.add({.what = "/0", .access = "read"});
  EXPECT_EQ(log.denials().size(), kMostDenials);
  EXPECT_EQ(log.denials().front().count, 2U);
  EXPECT_EQ(log.omitted(), 900U);
}

}  // namespace
}  // namespace cordon::outcome
