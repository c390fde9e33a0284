// What `cordon run` exits with, and what it says about it.
#include <algorithm>
#include <chrono>

#include "fixture.h"

namespace cordon::cli {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

class ExitStatus : public CliTest {};

TEST_F(ExitStatus, IsTheProgramsOwn) {
  EXPECT_EQ(cordon({"run", "--", "true"}).status, 0);
  const Ended ended = cordon({"run", "--", "sh", "-c", "exit 42"});
  EXPECT_EQ(ended.status, 42);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err, "");
}

TEST_F(ExitStatus, Is127WhenThereIsNoSuchProgram) {
  const Ended ended = cordon({"run", "--", "no-such-program"});
  EXPECT_EQ(ended.status, 127);
  EXPECT_THAT(ended.err, StartsWith("cordon: "));
  EXPECT_THAT(ended.err, HasSubstr("no-such-program"));
  EXPECT_EQ(cordon({"run", "./no-such-program"}).status, 127);
  EXPECT_EQ(cordon({"run", "/no/such/program"}).status, 127);
}

TEST_F(ExitStatus, Is5WithinTwiceATimeoutOf100Ms) {
  // A busy machine may delay any one run, but not all of them.
  auto fastest = std::chrono::nanoseconds::max();
  for (int attempt = 0; attempt < 5 && fastest >= milliseconds(200); ++attempt) {
    const Ended ended = cordon({"run", "--timeout", "100ms", "--", "sleep", "30"});
    ASSERT_EQ(ended.status, 5);
    EXPECT_GE(ended.wall, milliseconds(100));
    EXPECT_THAT(ended.err, StartsWith("cordon: timeout: ended after 1"));
    EXPECT_THAT(ended.err,
                HasSubstr("(limit 100 ms); raise --timeout if the program needs more time\n"));
    fastest = std::min(fastest, ended.wall);
  }
  EXPECT_LT(fastest, milliseconds(200));
}

TEST_F(ExitStatus, Is5AfterTheGraceForATreeThatIgnoresSigterm) {
  const Ended ended = cordon({"run", "--timeout", "100ms", "--grace", "100ms", "--", "sh", "-c",
                              "trap '' TERM; sleep 1000 & sleep 1000 & while :; do wait; done"});
  EXPECT_EQ(ended.status, 5);
  EXPECT_GE(ended.wall, milliseconds(200));
  // The fixture checks that nothing of it is left.
}

TEST_F(ExitStatus, Is128AndTheSignalThatTheProgramDiedOf) {
  const Ended ended = cordon({"run", "--", "sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(ended.status, 139);
  EXPECT_EQ(ended.err, "cordon: signaled: the program died of signal 11 (SIGSEGV)\n");
}

TEST_F(ExitStatus, IsAsInAPipelineForABrokenPipe) {
  const Ended ended = cordon({"run", "--", "sh", "-c", "kill -PIPE $$"});
  EXPECT_EQ(ended.status, 141);
  EXPECT_EQ(ended.err, "");  // expected by every user of head(1)
}

TEST_F(ExitStatus, Is124ForOtherLimits) {
  const Ended output = cordon({"run", "--output", "1K", "--", "yes"});
  EXPECT_EQ(output.status, 124);
  EXPECT_THAT(output.err, StartsWith("cordon: output: ended after "));
  EXPECT_THAT(output.err, HasSubstr("(limit 1K); raise --output"));

  const Ended cpu = cordon({"run", "--cpu-time", "100ms", "--", "sh", "-c", "while :; do :; done"});
  EXPECT_EQ(cpu.status, 124);
  EXPECT_THAT(cpu.err, StartsWith("cordon: cpu_time: ended after "));

  const Ended size = cordon({"run", "--write", directory(), "--cwd", directory(), "--file-size",
                             "4K", "--", "sh", "-c", "exec head -c 100000 /dev/zero >big"});
  EXPECT_EQ(size.status, 124);
  EXPECT_EQ(size.err,
            "cordon: file_size: ended at the limit of 4K; "
            "raise --file-size if the program needs larger files\n");
  EXPECT_EQ(std::filesystem::file_size(path("big")), 4096U);
}

TEST_F(ExitStatus, IsTheProgramsOwnWhenALimitOnlyMadeACallFail) {
  const Ended ended = cordon({"run", "--files", "16", "--", "sh", "-c", "ulimit -n"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "16\n");
}

TEST_F(ExitStatus, Is125AndNothingRunsWhenARequiredGuaranteeIsMissing) {
  const std::string marker = path("ran");
  const Ended ended = cordon({"run", "--require", "timeout,network,filesystem", "--backend",
                              "posix", "--", "touch", marker});
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("network (not enforced"));
  EXPECT_THAT(ended.err, HasSubstr("filesystem (not enforced"));
  EXPECT_THAT(ended.err, testing::Not(HasSubstr("timeout (")));
  EXPECT_FALSE(std::filesystem::exists(marker));

  EXPECT_EQ(cordon({"run", "--require", "all", "--backend", "posix", "--", "true"}).status, 125);
  EXPECT_EQ(cordon({"run", "--require", "timeout", "--", "true"}).status, 0);
}

}  // namespace
}  // namespace cordon::cli
