// cordon batch: what holds it up, what ends it, and what it says meanwhile.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "batch_fixture.h"
#include "terminal_pair.h"

namespace cordon::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class BatchEnd : public BatchTest {};

TEST_F(BatchEnd, NoRequestsAreNoFailure) {
  for (const char* const nothing : {"", "\n \r\n\n"}) {
    const Ended ended = batch({"-"}).input(nothing).run();
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, StartsWith("cordon: 0 requests in"));
  }
}

TEST_F(BatchEnd, ASlowRequestHoldsBackOnlySoMany) {
  // With two jobs, 72 may wait for the first. The last one would let it go on.
  std::string text = shell(kUntilGo);
  for (int i = 0; i < 150; ++i) text += shell("echo x >> $D/ran");
  text += shell("touch $D/go");
  auto running = batch({"--jobs", "2", file("in", text)}).start();
  const auto ran = [&] { return lines_in(read_file(path("shared/ran"))); };
  ASSERT_TRUE(eventually([&] { return ran() >= 72; }, std::chrono::seconds(40)));
  std::size_t before = 0;
  while (before != ran()) {
    before = ran();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until nothing happens any more
  }
  EXPECT_LE(ran(), 73U);
  EXPECT_FALSE(std::filesystem::exists(path("shared/go")));
  touch("go");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(lines_in(ended.out), 152U);
}

TEST_F(BatchEnd, ProgramsNeedNoThreadsOfTheirOwn) {
  constexpr int kPrograms = 50;
  std::string text;
  for (int i = 0; i < kPrograms; ++i) text += shell("mktemp $D/begun.XXXXXX; " + kUntilGo);
  auto running = batch({"--jobs", std::to_string(kPrograms), file("in", text)}).start();
  ASSERT_TRUE(eventually([&] {
    const std::filesystem::directory_iterator begun(path("shared"));
    return std::ranges::distance(begun) == kPrograms;
  }));
  const std::filesystem::directory_iterator threads("/proc/" + std::to_string(running.pid()) +
                                                    "/task");
  EXPECT_LE(std::ranges::distance(threads), 8 + std::thread::hardware_concurrency());
  touch("go");
  EXPECT_EQ(running.wait().status, 0);
}

TEST_F(BatchEnd, AReaderThatDoesNotReadHoldsUpNoSecondSignal) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string requests = file(
      "in", shell("head -c 300000 /dev/zero | tr '\\0' a") + shell("touch $D/begun; " + kUntilGo));
  const base::Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  auto running = batch({"--jobs", "2", requests}).redirect(1, pipe).start();
  ASSERT_TRUE(eventually([&] {
    int unread = 0;
    constexpr int kFull = 60'000;  // nearly
    return std::filesystem::exists(path("shared/begun")) &&
           ::ioctl(reader.get(), FIONREAD, &unread) == 0 && unread > kFull;
  }));
  running.signal(SIGTERM);
  running.signal(SIGINT);
  const Ended ended = running.wait();
  EXPECT_TRUE(ended.status == 143 || ended.status == 130) << ended.status;
}

TEST_F(BatchEnd, AReaderThatGoesAwayEndsIt) {
  std::string text = shell("echo first");
  for (int i = 0; i < 20; ++i) text += shell("sleep 0.02");
  text += shell("sleep 1000");
  auto running = batch({"--jobs", "2", file("in", text)}).start();
  ASSERT_TRUE(running.reads("first"));
  running.hang_up();
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("cannot write the results to stdout: Broken pipe"));
}

TEST_F(BatchEnd, AFullDiskEndsIt) {
  const std::string requests = file("in", shell("echo first") + shell("sleep 1000"));
  const Ended to_stdout = batch({requests}).redirect(1, "/dev/full").run();
  EXPECT_EQ(to_stdout.status, 125);
  EXPECT_THAT(to_stdout.err, HasSubstr("No space left on device"));
  const Ended to_file = batch({"--results", "/dev/full", requests}).run();
  EXPECT_EQ(to_file.status, 125);
  EXPECT_THAT(to_file.err, HasSubstr("/dev/full: No space left on device"));
  EXPECT_THAT(to_file.err, testing::Not(HasSubstr("--resume")));
}

TEST_F(BatchEnd, AfterTheDeadlineNothingIsStarted) {
  const Ended none = batch({"--deadline", "0s", file("in", shell("touch $D/ran"))}).run();
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(each(none.out, "/error/code"), ElementsAre("timed_out"));
  EXPECT_THAT(each(none.out, "/error/stage"), ElementsAre("deadline"));
  EXPECT_FALSE(std::filesystem::exists(path("shared/ran")));

  // What was begun in time goes on.
  const std::string requests = file("in2", shell("sleep 2.5; echo done") + shell("echo late"));
  const Ended some = batch({"--deadline", "2s", "--jobs", "1", requests}).run();
  EXPECT_EQ(some.status, 1);
  EXPECT_THAT(each(some.out, "/stdout"), ElementsAre("done\n", "-"));
  EXPECT_THAT(each(some.out, "/error/message")[1], HasSubstr("deadline of the batch (2s)"));
}

TEST_F(BatchEnd, ControlCAtATerminalStopsIt) {
  TerminalPair terminal(40, 100);
  const std::string requests = file("in", shell("true") + shell(kUntilGo));
  auto running = batch({"--jobs", "2", requests})
                     .redirect(1, path("out"))
                     .start_on(terminal.path(), terminal.take_user_end());
  ASSERT_TRUE(running.reads("] 1/2"));
  running.types("\x03");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(ended.out, HasSubstr("stopped: 1 of 2 results are written"));
  EXPECT_THAT(each(read_file(path("out")), "/outcome/verdict"), ElementsAre("exited"));
}

TEST_F(BatchEnd, QuietSaysNothingAndProgressSaysMore) {
  const std::string requests = file("in", shell("sleep 1.2"));
  EXPECT_EQ(batch({"--quiet", file("quick", shell("true"))}).run().err, "");
  const Ended more = batch({"--progress", requests}).run();
  EXPECT_THAT(more.err, HasSubstr("[....................] 0/1"));
  EXPECT_EQ(lines_in(more.err), 2U);
}

TEST_F(BatchEnd, ATerminalShowsABarAndThenTheSummary) {
  TerminalPair terminal(40, 100);
  const std::string requests = file("in", shell("true") + shell(kUntilGo));
  auto running = batch({"--jobs", "2", requests})
                     .redirect(1, path("out"))
                     .start_on(terminal.path(), terminal.take_user_end());
  ASSERT_TRUE(running.reads("[##########..........] 1/2"));
  ASSERT_TRUE(running.reads("1 exited with 0"));
  touch("go");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("\r\x1b[Kcordon: 2 requests in "));
  EXPECT_EQ(lines_in(read_file(path("out"))), 2U);
}

}  // namespace
}  // namespace cordon::cli
