// How much of the kernel a program under the filters can reach, counted by calling it.
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>
#include <string>

#include "backend/linux/filtered_run.h"
#include "backend/linux/seccomp.h"

namespace cordon::linux_backend {
namespace {

constexpr int kMostReachable = 251;

TEST(SeccompReachTest, FewCallsAreReachableAndNoneOfOtherArchitectures) {
  const auto filters = compile_seccomp({});
  ASSERT_TRUE(filters);
  const auto run = run_filtered(*filters, {CORDON_TEST_PROGRAMS_DIR "/syscall_prober"});
  ASSERT_EQ(run.exit_code, 0) << run.output;
  std::istringstream lines(run.output);
  std::string name;
  int x86_64 = -1;
  int i386 = -1;
  int x32 = -1;
  lines >> name >> x86_64 >> name >> i386 >> name >> x32;
  ASSERT_TRUE(lines) << run.output;
  EXPECT_LE(x86_64, kMostReachable) << run.output;
  EXPECT_GT(x86_64, 200) << "does the prober still count? " << run.output;
  EXPECT_EQ(i386, 0);
  EXPECT_EQ(x32, 0);
  RecordProperty("x86_64", x86_64);
}

TEST(SeccompReachTest, TheKernelTakesTheFilterAndItHolds) {
  const auto filters = compile_seccomp({});
  ASSERT_TRUE(filters);
  // Root, even: the filter refuses before any capability is asked.
  const auto run = run_filtered(*filters, {"unshare", "--user", "true"});
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_NE(run.output.find("Function not implemented"), std::string::npos) << run.output;
}

TEST(SeccompReachTest, CannotMakeASetuidFile) {
  const auto filters = compile_seccomp({});
  ASSERT_TRUE(filters);
  const auto run = run_filtered(*filters, {"sh", "-c",
                                           "f=$(mktemp) && chmod 0755 $f && chmod u+s $f; "
                                           "chmod g+s $f; stat -c %a $f; rm $f"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("not permitted"), std::string::npos) << run.output;
  EXPECT_TRUE(run.output.ends_with("\n755\n")) << run.output;
}

TEST(SeccompReachTest, ProgramsMayRestrictThemselvesFurther) {
  auto filters = compile_seccomp({});
  ASSERT_TRUE(filters);
  filters->push_back(filters->front());  // installed under the first
  EXPECT_EQ(run_filtered(*filters, {"true"}).exit_code, 0);
}

}  // namespace
}  // namespace cordon::linux_backend
