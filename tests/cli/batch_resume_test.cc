// cordon batch --results --resume: whatever stops a batch, another one completes it.
#include <csignal>

#include "batch_fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;

class BatchResume : public BatchTest {
 protected:
  [[nodiscard]] Command resumable(std::vector<std::string> options, const std::string& requests) {
    options.insert(options.end(), {"--results", results_, requests});
    return batch(std::move(options));
  }
  [[nodiscard]] std::string results() const { return read_file(results_); }
  [[nodiscard]] bool has_results(std::size_t count) const {
    return eventually([&] { return lines_in(results()) >= count; });
  }
  // Three that end, one that waits, two more.
  [[nodiscard]] std::string requests() const {
    return file("in", shell("echo 1") + shell("echo 2") + shell("echo 3; exit 7") +
                          shell("touch $D/begun; " + kUntilGo + "echo 4") + shell("echo 5") +
                          shell("echo 6"));
  }
  std::string results_ = path("results");

  void SetUp() override {
    BatchTest::SetUp();
    results_ = path("results");
  }
};

TEST_F(BatchResume, AnInterruptedBatchGoesOnWhereItStopped) {
  for (const auto& [signal, status] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 129}}) {
    std::filesystem::remove(results_);
    std::filesystem::remove(path("shared/go"));
    std::filesystem::remove(path("shared/begun"));
    std::filesystem::remove(path("in"));
    const std::string in = requests();
    auto running = resumable({"--jobs", "3"}, in).start();
    ASSERT_TRUE(has_results(3));
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(path("shared/begun")); }));
    running.signal(signal);
    const Ended stopped = running.wait();
    EXPECT_EQ(stopped.status, status);
    EXPECT_THAT(stopped.err, HasSubstr("stopped: 3 of 6 results are written; the same command"));
    const std::string before = results();
    EXPECT_EQ(lines_in(before), 3U);  // and not those after the one that was ended

    touch("go");
    const Ended resumed = resumable({"--jobs", "2", "--resume"}, in).run();
    EXPECT_EQ(resumed.status, 1);  // one of those before exited with 7
    EXPECT_THAT(resumed.err, HasSubstr("3 requests in"));
    EXPECT_THAT(resumed.err, HasSubstr("3 before: 5 exited with 0, 1 exited otherwise"));
    EXPECT_THAT(results(), testing::StartsWith(before));

    const Ended whole = batch({in}).run();
    EXPECT_EQ(stable(results()), stable(whole.out));
  }
}

TEST_F(BatchResume, ASecondSignalDoesNotWaitForThePrograms) {
  const std::string in = file("in", shell("trap '' TERM INT; touch $D/begun; " + kUntilGo));
  auto running = resumable({"--grace", "1h"}, in).start();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(path("shared/begun")); }));
  running.signal(SIGTERM);
  running.signal(SIGINT);  // another, so that the two cannot become one
  const Ended ended = running.wait();
  EXPECT_TRUE(ended.status == 143 || ended.status == 130) << ended.status;
  EXPECT_EQ(results(), "");
}

TEST_F(BatchResume, KilledAtAnyTimeTheResultsBecomeComplete) {
  constexpr std::size_t kRequests = 60;
  std::string text;
  for (std::size_t i = 0; i < kRequests; ++i) {
    text += shell("echo " + std::to_string(i) + "; exit " + std::to_string(i % 3));
  }
  const std::string in = file("in", text);
  const Ended whole = batch({"--jobs", "4", in}).run();
  ASSERT_EQ(whole.status, 1);
  std::size_t killed = 0;
  while (true) {
    const std::size_t before = lines_in(std::filesystem::exists(results_) ? results() : "");
    auto running = resumable({"--jobs", "4", "--resume"}, in).start();
    if (before + 9 < kRequests) {
      ASSERT_TRUE(has_results(before + 3 + killed % 5));
      running.signal(SIGKILL);
      ++killed;
      EXPECT_EQ(running.wait().status, -SIGKILL);
      continue;
    }
    const Ended ended = running.wait();
    EXPECT_EQ(ended.status, 1) << ended.err;
    break;
  }
  EXPECT_GE(killed, 3U);
  EXPECT_EQ(stable(results()), stable(whole.out));
}

TEST_F(BatchResume, AResultThatWasNotWrittenToItsEndIsCutOffAndDoneAgain) {
  const std::string in = file("in", shell("echo 1") + shell("echo 2") + shell("echo 3"));
  ASSERT_EQ(resumable({}, in).run().status, 0);
  const std::string whole = results();
  for (const std::size_t cut : {whole.size() - 1, whole.size() - 20, std::size_t{5}}) {
    std::ofstream(results_, std::ios::trunc) << whole.substr(0, cut);
    const Ended ended = resumable({"--resume"}, in).run();
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.err, HasSubstr("ended in the middle of a result"));
    EXPECT_EQ(stable(results()), stable(whole));
  }
}

TEST_F(BatchResume, AFileThatIsThereIsNotOverwritten) {
  std::ofstream(results_) << "precious";
  const Ended ended = resumable({}, file("in", shell("touch $D/ran"))).run();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("exists already: add --resume"));
  EXPECT_EQ(results(), "precious");
  EXPECT_FALSE(std::filesystem::exists(path("shared/ran")));
}

TEST_F(BatchResume, WithoutResultsItBeginsAndWithAllOfThemItEnds) {
  const std::string in = file("in", shell("echo x >> $D/ran"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(resumable({"--resume"}, in).run().status, 0);
  EXPECT_EQ(read_file(path("shared/ran")), "x\n");
  EXPECT_EQ(lines_in(results()), 1U);
}

TEST_F(BatchResume, ResultsOfOtherRequestsOrOptionsAreLeftAlone) {
  ASSERT_EQ(resumable({}, file("in", shell("echo 1"))).run().status, 0);
  const std::string before = results();
  const Ended other = resumable({"--resume"}, file("in2", shell("echo 2"))).run();
  EXPECT_EQ(other.status, 125);
  EXPECT_THAT(other.err, HasSubstr("results:1: this is not the result of line 1"));
  EXPECT_EQ(resumable({"--resume", "--memory", "64M"}, path("in")).run().status, 125);
  EXPECT_EQ(resumable({"--resume"}, file("in3", "")).run().status, 125);
  EXPECT_EQ(results(), before);
}

TEST_F(BatchResume, OnlyOneBatchWritesToAFile) {
  const std::string in = requests();
  auto running = resumable({}, in).start();
  ASSERT_TRUE(has_results(3));
  const Ended second = resumable({"--resume"}, in).run();
  EXPECT_EQ(second.status, 125);
  EXPECT_THAT(second.err, HasSubstr("another batch writes to"));
  touch("go");
  EXPECT_EQ(running.wait().status, 1);
  EXPECT_EQ(lines_in(results()), 6U);
}

TEST_F(BatchResume, WhatIsNoFileCannotBeGoneOnWith) {
  const Ended ended =
      batch({"--results", "/dev/null", "--resume", file("in", shell("true"))}).run();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("no regular file"));
}

}  // namespace
}  // namespace cordon::cli
