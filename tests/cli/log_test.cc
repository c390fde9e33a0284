// --log and --transport: a program's output as lines of a log.
#include <sys/stat.h>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;

using LogOption = CliTest;
using TransportOption = CliTest;

constexpr const char* kTalk = "echo out; echo err >&2; printf rest";

TEST_F(LogOption, AddsWhatTheProgramSaysLineByLine) {
  const Ended ended = cordon({"run", "--log", path("log"), "--", "sh", "-c", kTalk});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "out\nrest") << "and it is passed on as it is";
  EXPECT_EQ(ended.err, "err\n");
  const std::string log = read_file(path("log"));
  EXPECT_THAT(log, HasSubstr("[stdout] out\n"));
  EXPECT_THAT(log, HasSubstr("[stderr] err\n"));
  EXPECT_THAT(log, HasSubstr("[stdout] rest\n"));
  struct stat found{};
  ASSERT_EQ(::stat(path("log").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0600U);

  EXPECT_EQ(cordon({"run", "--log", path("log"), "--", "echo", "again"}).status, 0);
  EXPECT_EQ(read_file(path("log")), log + "[stdout] again\n");
}

TEST_F(LogOption, WorksBesideJson) {
  const Ended ended = cordon({"run", "--json", "--log", path("log"), "--", "echo", "text"});
  EXPECT_EQ(parse(ended.out).at("stdout"), "text\n");
  EXPECT_EQ(read_file(path("log")), "[stdout] text\n");
}

TEST_F(LogOption, HoldsNothingThatCommandsATerminal) {
  const Ended ended =
      cordon({"run", "--log", path("log"), "--", "printf", R"(\033[2J[stderr] fake\r\n)"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(read_file(path("log")), "[stdout] \\x1b[2J[stderr] fake\n");
}

TEST_F(LogOption, WritesThroughNoLinkAndToNoDevice) {
  const std::string precious = file("precious", "precious");
  std::filesystem::create_symlink(precious, path("link"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& bad : {path("link"), path("pipe"), path("missing/log"), path(".")}) {
    const Ended ended = cordon({"run", "--log", bad, "--", "echo", "text"});
    EXPECT_EQ(ended.status, 125) << bad;
    EXPECT_THAT(ended.err, HasSubstr("cannot write the log " + bad));
    EXPECT_THAT(ended.err, HasSubstr("--log"));
    EXPECT_EQ(ended.out, "") << "nothing was run";
  }
  EXPECT_EQ(read_file(precious), "precious");
}

TEST_F(LogOption, OnAFullDiskDoesNotChangeHowTheRunEnds) {
  if (::geteuid() != 0) CORDON_SKIP("root", "only root can make a small file system");
  std::filesystem::create_directory(path("small"));
  const std::string script = "mount -t tmpfs -o size=4k tmpfs '" + path("small") + "' && exec '" +
                             CORDON_COMMAND + "' run --log '" + path("small/log") +
                             "' -- sh -c 'yes | head -c 100000; exit 3'";
  const Ended ended =
      Command::program({"unshare", "--mount", "--propagation", "private", "sh", "-c", script})
          .run();
  EXPECT_EQ(ended.status, 3) << ended.err;
  EXPECT_EQ(ended.out.size(), 100'000U) << "its output is passed on";
  EXPECT_THAT(ended.err, HasSubstr("cannot write the log"));
  EXPECT_THAT(ended.err, HasSubstr("No space left on device"));
  EXPECT_EQ(ended.err.find("cannot write"), ended.err.rfind("cannot write")) << "said once";
}

TEST_F(TransportOption, StdioIsAsWithout) {
  const Ended ended = Command({"run", "--transport", "stdio", "--", "cat"}).input("text").run();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "text");
}

TEST_F(TransportOption, HttpMakesTheOutputALogAndTheInputEmpty) {
  const std::string script = std::string("cat; ") + kTalk;
  const Ended ended =
      Command({"run", "--transport", "http", "--", "sh", "-c", script}).input("text").run();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("[stdout] out\n"));
  EXPECT_THAT(ended.err, HasSubstr("[stderr] err\n"));
  EXPECT_THAT(ended.err, HasSubstr("[stdout] rest\n"));
  EXPECT_EQ(ended.err.find("text"), std::string::npos);
}

TEST_F(TransportOption, HttpLogsToAFileIfThereIsOne) {
  const Ended ended =
      cordon({"run", "--transport", "http", "--log", path("log"), "--", "echo", "text"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out + ended.err, "");
  EXPECT_EQ(read_file(path("log")), "[stdout] text\n");
}

TEST_F(TransportOption, ThatIsUnknownIsAnErrorWithTheKnownOnes) {
  const Ended ended = cordon({"run", "--transport", "carrier-pigeon", "--", "true"});
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("\"carrier-pigeon\" is no transport: there are stdio and http"));
}

}  // namespace
}  // namespace cordon::cli
