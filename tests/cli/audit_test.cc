// cordon run --audit DIR, and cordon audit verify.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Audit : public CliTest {
 protected:
  [[nodiscard]] std::string log() const { return path("log"); }
  [[nodiscard]] std::vector<boost::json::value> records() const {
    std::vector<boost::json::value> all;
    std::ifstream file(log() + "/audit-00000001.jsonl");
    for (std::string line; std::getline(file, line);) all.push_back(parse(line));
    return all;
  }
  [[nodiscard]] std::vector<std::string> operations() const {
    std::vector<std::string> all;
    for (const auto& record : records()) all.emplace_back(record.at("operation").as_string());
    return all;
  }
  [[nodiscard]] Ended verify() const { return cordon({"audit", "verify", log()}); }
};

TEST_F(Audit, ARunIsRecordedFromStartToCleanUp) {
  EXPECT_EQ(cordon({"run", "--audit", log(), "--", "sh", "-c", "exit 3"}).status, 3);
  EXPECT_THAT(operations(), ElementsAre("start", "exit", "cleanup"));
  const auto exit = records()[1];
  EXPECT_EQ(exit.at("outcome").at("verdict"), "exited");
  EXPECT_EQ(exit.at("outcome").at("exit_code"), 3);
  EXPECT_EQ(exit.at("program"), "sh");
  EXPECT_EQ(exit.at("uid"), ::getuid());
  EXPECT_EQ(records()[0].at("run"), exit.at("run"));
  const Ended verified = verify();
  EXPECT_EQ(verified.status, 0);
  EXPECT_THAT(verified.out, HasSubstr("3 records in 1 file: nothing is wrong\nhead: 3 "));
}

TEST_F(Audit, HitLimitsAreRecorded) {
  EXPECT_EQ(cordon({"run", "--audit", log(), "--timeout", "100ms", "--", "sleep", "60"}).status, 5);
  EXPECT_THAT(operations(), ElementsAre("start", "limit", "exit", "cleanup"));
  EXPECT_THAT(std::string(records()[1].at("detail").as_string()),
              testing::StartsWith("timeout: limit 100, observed "));
}

TEST_F(Audit, SignalsOfTheUserAreRecorded) {
  auto running =
      Command({"run", "--audit", log(), "--", "sh", "-c", "trap 'exit 4' INT; echo ready; read x"})
          .keep_input_open()
          .start();
  ASSERT_TRUE(running.reads("ready"));
  running.signal(SIGINT);
  EXPECT_EQ(running.wait().status, 4);
  EXPECT_THAT(operations(), ElementsAre("start", "signal", "exit", "cleanup"));
  EXPECT_EQ(records()[1].at("detail"), "signal 2");
}

TEST_F(Audit, RefusedRunsAreRecorded) {
  EXPECT_EQ(cordon({"run", "--audit", log(), "--backend", "posix", "--require", "filesystem", "--",
                    "true"})
                .status,
            125);
  EXPECT_EQ(cordon({"run", "--audit", log(), "--env", "A=1", "--env", "A=2", "--timeout", "1s",
                    "--read", "relative/../x", "--", ""})
                .status,
            125);
  EXPECT_THAT(operations(), ElementsAre("refused", "refused"));
  EXPECT_EQ(verify().status, 0);
}

TEST_F(Audit, ProgramsThatCannotBeStartedAreRecorded) {
  EXPECT_EQ(cordon({"run", "--audit", log(), "--", "no-such-program"}).status, 127);
  EXPECT_THAT(operations(), ElementsAre("start", "exit", "cleanup"));
  EXPECT_EQ(records()[1].at("outcome").at("error").at("code"), "not_found");
}

TEST_F(Audit, PlansAreRecorded) {
  EXPECT_EQ(cordon({"plan", "--audit", log(), "--backend", "posix", "--", "true"}).status, 0);
  EXPECT_THAT(operations(), ElementsAre("plan"));
}

TEST_F(Audit, WithoutALogNothingIsRun) {
  (void)file("in-the-way", "");
  const std::string open = path("open");
  fs::create_directory(open);
  ::chmod(open.c_str(), 0777);
  for (const std::string& bad : {path("in-the-way"), open, open + "/log"}) {
    const Ended ended = cordon({"run", "--audit", bad, "--", "echo", "ran"});
    EXPECT_EQ(ended.status, 125) << bad;
    EXPECT_EQ(ended.out, "") << bad;
    EXPECT_THAT(ended.err, HasSubstr("cordon: "));
    EXPECT_THAT(ended.err, HasSubstr(bad.substr(0, bad.rfind("/log"))));
  }
}

TEST_F(Audit, ALogWithinTheProgramsReachIsRefused) {
  const Ended ended =
      cordon({"run", "--audit", log(), "--write", directory(), "--", "echo", "ran"});
  EXPECT_EQ(ended.status, 125);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("could change the audit log"));
}

TEST_F(Audit, AFullDiskRefusesTheRunAndLosesNothing) {
  if (::geteuid() != 0) CORDON_SKIP("root", "needs root, to make a small file system");
  // The log fills a file system of 64 KiB, which is gone with the mount namespace.
  const std::string script = R"(
    mount -t tmpfs -o size=64k,mode=700 none "$1" || exit 77
    "$2" run --audit "$1" -- true || exit 1
    dd if=/dev/zero of="$1/filler" bs=1k 2>/dev/null
    while "$2" run --audit "$1" -- echo ran 2>/dev/null; do :; done
    "$2" run --audit "$1" -- echo ran; echo "status $?"
    rm "$1/filler"
    "$2" audit verify "$1" && "$2" run --audit "$1" -- true && "$2" audit verify "$1")";
  fs::create_directory(log());
  const Ended ended =
      Command::program({"unshare", "-m", "sh", "-c", script, "sh", log(), CORDON_COMMAND}).run();
  if (ended.status == 77) CORDON_SKIP("root", "tmpfs cannot be mounted here");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("status 125"));
  EXPECT_THAT(ended.err, HasSubstr("No space left on device"));
  EXPECT_THAT(ended.out, HasSubstr("nothing is wrong"));
}

TEST_F(Audit, ATamperedLogIsNotWrittenTo) {
  EXPECT_EQ(cordon({"run", "--audit", log(), "--", "true"}).status, 0);
  fs::resize_file(log() + "/audit-00000001.jsonl", 100);
  const Ended ended = cordon({"run", "--audit", log(), "--", "echo", "ran"});
  EXPECT_EQ(ended.status, 125);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("records were removed"));
}

TEST_F(Audit, VerifyTellsWhereTheLogWasChanged) {
  EXPECT_EQ(cordon({"run", "--audit", log(), "--", "true"}).status, 0);
  const std::string name = log() + "/audit-00000001.jsonl";
  std::string text = read_file(name);
  text.replace(text.find(R"("uid":)"), 7, R"("uid":9)");
  std::ofstream(name) << text;
  const Ended ended = verify();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, HasSubstr("audit-00000001.jsonl:1: was changed"));
  EXPECT_THAT(ended.out, HasSubstr("3 records in 1 file: 1 defect\n"));
}

TEST_F(Audit, VerifySaysThatAnEmptiedLogHasNoHead) {
  fs::create_directory(log());
  const Ended ended = verify();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, HasSubstr("head: is missing or damaged"));
}

TEST_F(Audit, VerifyOfWhatIsNotThereIsAnError) {
  const Ended ended = verify();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("cannot open the audit log " + log()));
}

TEST_F(Audit, WithAKeyOnlyItsOwnerCanVerify) {
  const std::string key = path("key");
  std::ofstream(key) << std::string(32, 'k');
  ::chmod(key.c_str(), 0600);
  EXPECT_EQ(cordon({"run", "--audit", log(), "--audit-key", key, "--", "true"}).status, 0);
  EXPECT_THAT(verify().err, HasSubstr("--key FILE"));
  EXPECT_EQ(cordon({"audit", "verify", "--key", key, log()}).status, 0);
  std::ofstream(key) << std::string(32, 'x');
  EXPECT_EQ(cordon({"audit", "verify", log(), "--key", key}).status, 1);
  ::chmod(key.c_str(), 0644);
  EXPECT_THAT(cordon({"audit", "verify", log(), "--key", key}).err, HasSubstr("chmod 600"));
}

TEST_F(Audit, WrongUsageIsTold) {
  const auto complaint = [](std::vector<std::string> arguments) {
    const Ended ended = cordon(std::move(arguments));
    EXPECT_EQ(ended.status, 125);
    return ended.err;
  };
  EXPECT_THAT(complaint({"audit"}), HasSubstr("show or verify"));
  EXPECT_THAT(complaint({"audit", "sho"}), HasSubstr("did you mean 'show'?"));
  EXPECT_THAT(complaint({"audit", "verify", "a", "b"}), HasSubstr("more than one directory"));
  EXPECT_THAT(complaint({"audit", "verify", "--kay", "b"}), HasSubstr("did you mean --key?"));
  EXPECT_THAT(complaint({"run", "--audit", "", "--", "true"}), HasSubstr("names no directory"));
  EXPECT_THAT(complaint({"run", "--audit-key", "k", "--", "true"}), HasSubstr("needs --audit"));
}

}  // namespace
}  // namespace cordon::cli
