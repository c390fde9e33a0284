// How much of the kernel can be reached from inside the real sandbox, counted by calling it.
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "escape/runs.h"

namespace cordon::escape {
namespace {

constexpr int kMostReachable = 251;

class Reach : public Sandboxed {};

TEST_F(Reach, FewCallsAreReachableAndNoneOfOtherArchitectures) {
  Request request = request_for(bait_, {});
  request.program = CORDON_TEST_PROGRAMS_DIR "/syscall_prober";
  request.timeout = std::chrono::seconds(50);
  const Outcome outcome = run(manager(), request);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  std::istringstream lines(outcome.out);
  std::string name;
  int x86_64 = -1;
  int i386 = -1;
  int x32 = -1;
  lines >> name >> x86_64 >> name >> i386 >> name >> x32;
  ASSERT_TRUE(lines) << outcome.out;
  EXPECT_LE(x86_64, kMostReachable);
  EXPECT_GT(x86_64, 200) << "does the prober still count?";
  EXPECT_EQ(i386, 0);
  EXPECT_EQ(x32, 0);
  RecordProperty("x86_64", x86_64);
}

TEST_F(Reach, I386AndX32CallsEndTheRun) {
  for (const char* entry : {"i386", "x32"}) {
    EXPECT_EQ(attack({"call", entry}).verdict, Verdict::denied) << entry;
  }
}

}  // namespace
}  // namespace cordon::escape
