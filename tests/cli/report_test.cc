// cordon run --report FILE.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;

class Report : public CliTest {
 protected:
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
};

TEST_F(Report, IsWrittenBesideTheOrdinaryOutput) {
  const Ended ended =
      cordon({"run", "--report", path("r.json"), "--", "sh", "-c", "echo o; echo e >&2; exit 3"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(ended.out, "o\n");
  EXPECT_EQ(ended.err, "e\n");
  const auto outcome = parse(read_file(path("r.json")));
  EXPECT_EQ(outcome.at("verdict"), "exited");
  EXPECT_EQ(outcome.at("exit_code"), 3);
  EXPECT_THAT(files(), testing::ElementsAre("r.json"));
}

TEST_F(Report, GoesWithJson) {
  const Ended ended = cordon({"run", "--json", "--report", path("r.json"), "--", "echo", "o"});
  EXPECT_EQ(parse(ended.out).at("outcome").at("id"), parse(read_file(path("r.json"))).at("id"));
}

TEST_F(Report, ReplacesAFileAsAWholeAndKeepsItsPermissions) {
  const std::string report = path("r.json");
  std::ofstream(report) << "old";
  ::chmod(report.c_str(), 0640);
  const base::Fd old(::open(report.c_str(), O_RDONLY | O_CLOEXEC));
  // The program still sees the old one.
  const Ended ended =
      cordon({"run", "--read", directory(), "--report", report, "--", "cat", report});
  EXPECT_EQ(ended.out, "old");
  EXPECT_EQ(parse(read_file(report)).at("verdict"), "exited");
  std::array<char, 8> text{};
  EXPECT_EQ(::read(old.get(), text.data(), text.size()), 3);  // who had it open keeps it
  EXPECT_EQ(std::filesystem::status(report).permissions(), std::filesystem::perms(0640));
  EXPECT_THAT(files(), testing::ElementsAre("r.json"));
}

TEST_F(Report, FollowsASymbolicLink) {
  std::ofstream(path("target")) << "old";
  std::filesystem::create_symlink("target", path("link"));
  EXPECT_EQ(cordon({"run", "--report", path("link"), "--", "true"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(parse(read_file(path("target"))).at("verdict"), "exited");
}

TEST_F(Report, GoesToStderrAfterTheProgramsOutput) {
  const Ended ended =
      cordon({"run", "--report", "/dev/stderr", "--", "sh", "-c", "echo e >&2; exit 3"});
  EXPECT_EQ(ended.status, 3);
  ASSERT_TRUE(ended.err.starts_with("e\n{"));
  EXPECT_EQ(parse(ended.err.substr(2)).at("exit_code"), 3);
}

TEST_F(Report, NeverReplacesWhatStderrIsRedirectedTo) {
  const Ended ended = Command({"run", "--report", "/dev/stderr", "--", "sh", "-c", "echo e >&2"})
                          .redirect(2, path("log"))
                          .run();
  EXPECT_EQ(ended.status, 0);
  const std::string log = read_file(path("log"));
  ASSERT_TRUE(log.starts_with("e\n{"));
  EXPECT_TRUE(std::filesystem::is_symlink("/dev/stderr"));
}

TEST_F(Report, GoesIntoAFifo) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const base::Fd reader(::open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_EQ(cordon({"run", "--report", path("fifo"), "--", "true"}).status, 0);
  std::string text(16384, '\0');
  const ssize_t got = ::read(reader.get(), text.data(), text.size());
  ASSERT_GT(got, 0);
  text.resize(static_cast<std::size_t>(got));
  EXPECT_EQ(parse(text).at("verdict"), "exited");
}

TEST_F(Report, ThatCannotBeWrittenIsFoundOutBeforeTheProgramRuns) {
  const std::string marker = path("ran");
  for (const std::string& report :
       {path("missing/r.json"), std::string(directory()), std::string("/dev/fd/77")}) {
    const Ended ended = cordon({"run", "--report", report, "--", "touch", marker});
    EXPECT_EQ(ended.status, 125) << report;
    EXPECT_THAT(ended.err, HasSubstr("cordon: cannot write report " + report));
    EXPECT_FALSE(std::filesystem::exists(marker));
  }
}

TEST_F(Report, ThatFailsToBeWrittenInTheEndIsAnError) {
  const Ended ended = cordon({"run", "--report", "/dev/full", "--", "true"});
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("cannot write report /dev/full: No space left on device"));
}

TEST_F(Report, TellsOfARunThatNeverStarted) {
  EXPECT_EQ(cordon({"run", "--report", path("r.json"), "--", "no-such-program"}).status, 127);
  EXPECT_EQ(parse(read_file(path("r.json"))).at("verdict"), "failed_to_start");
}

TEST_F(Report, NothingLiesAboutWhenTheCommandIsKilled) {
  auto running = Command({"run", "--report", path("r.json"), "--", "sh", "-c", "echo ready; cat"})
                     .keep_input_open()
                     .start();
  ASSERT_TRUE(running.reads("ready"));
  running.signal(SIGKILL);
  EXPECT_EQ(running.wait().status, -SIGKILL);
  EXPECT_THAT(files(), testing::IsEmpty());
}

}  // namespace
}  // namespace cordon::cli
