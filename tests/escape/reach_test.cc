// How much of the kernel can be reached from inside the real sandbox, counted by calling it.
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "escape/runs.h"

namespace cordon::escape {
namespace {

constexpr int kMostReachable = 251;

class Reach : public Sandboxed {
 protected:
  struct Counts {
    int x86_64 = -1;
    int i386 = -1;
    int x32 = -1;
  };
  [[nodiscard]] Counts count(bool explain) {
    Request request = request_for(bait_, {});
    request.program = CORDON_TEST_PROGRAMS_DIR "/syscall_prober";
    request.timeout = std::chrono::seconds(50);
    request.explain = explain;
    const Outcome outcome = run(manager(), request);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    std::istringstream lines(outcome.out);
    std::string name;
    Counts counts;
    lines >> name >> counts.x86_64 >> name >> counts.i386 >> name >> counts.x32;
    EXPECT_TRUE(lines) << outcome.out;
    return counts;
  }
};

TEST_F(Reach, FewCallsAreReachableAndNoneOfOtherArchitectures) {
  const Counts counts = count(false);
  EXPECT_LE(counts.x86_64, kMostReachable);
  EXPECT_GT(counts.x86_64, 200) << "does the prober still count?";
  EXPECT_EQ(counts.i386, 0);
  EXPECT_EQ(counts.x32, 0);
  RecordProperty("x86_64", counts.x86_64);
}

TEST_F(Reach, NoMoreCallsAreReachableFromARunThatIsExplained) {
  if (kPlace.long_lived()) GTEST_SKIP() << "explain: no program of a long-lived sandbox can be";
  const Counts ordinary = count(false);
  const Counts explained = count(true);
  EXPECT_LE(explained.x86_64, ordinary.x86_64);
  EXPECT_GT(explained.x86_64, 200);
  EXPECT_EQ(explained.i386, 0);
  EXPECT_EQ(explained.x32, 0);
}

TEST_F(Reach, I386AndX32CallsEndTheRun) {
  for (const char* entry : {"i386", "x32"}) {
    EXPECT_EQ(attack({"call", entry}).verdict, Verdict::denied) << entry;
  }
}

}  // namespace
}  // namespace cordon::escape
