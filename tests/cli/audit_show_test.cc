// cordon audit show.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class AuditShow : public CliTest {
 protected:
  [[nodiscard]] std::string log() const { return path("log"); }
  void record(const std::string& program, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"run", "--backend", "posix", "--audit", log()});
    options.insert(options.end(), {"--", program});
    (void)cordon(std::move(options));
  }
  [[nodiscard]] Ended show(std::vector<std::string> options) const {
    options.insert(options.begin(), {"audit", "show", log()});
    return cordon(std::move(options));
  }
  // One field of each record that is shown.
  [[nodiscard]] std::vector<std::string> shown(std::vector<std::string> options,
                                               const std::string& field = "operation") const {
    options.emplace_back("--json");
    const Ended ended = show(std::move(options));
    EXPECT_EQ(ended.status, 0) << ended.err;
    std::vector<std::string> fields;
    std::istringstream text(ended.out);
    for (std::string line; std::getline(text, line);) {
      fields.emplace_back(parse(line).at(field).as_string());
    }
    return fields;
  }
};

TEST_F(AuditShow, PrintsATable) {
  record("true");
  const Ended ended = show({});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("RECORD  TIME"));
  EXPECT_THAT(ended.out, HasSubstr("exit       exited           true"));
}

TEST_F(AuditShow, FiltersWithAndWithoutAnIndex) {
  record("true");
  record("no-such-program");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(shown({}), ElementsAre("start", "exit", "cleanup", "start", "exit", "cleanup"));
    EXPECT_THAT(shown({"--operation", "exit"}, "program"), ElementsAre("true", "no-such-program"));
    EXPECT_THAT(shown({"--verdict", "failed_to_start"}, "program"), ElementsAre("no-such-program"));
    EXPECT_THAT(shown({"--program", "no-*"}), ElementsAre("start", "exit", "cleanup"));
    EXPECT_THAT(shown({"--limit", "2"}), ElementsAre("exit", "cleanup"));
    EXPECT_THAT(shown({"--since", "1h", "--limit", "1"}), ElementsAre("cleanup"));
    EXPECT_THAT(shown({"--until", "2020-01-01"}), ElementsAre());
    std::filesystem::remove(log() + "/index.sqlite");
  }
}

TEST_F(AuditShow, FindsARunByTheBeginningOfItsId) {
  record("true");
  record("false");
  const auto runs = shown({}, "run");
  EXPECT_THAT(shown({"--run", runs[3].substr(0, 12)}, "program"),
              ElementsAre("false", "false", "false"));
  EXPECT_EQ(show({"--run", std::string(32, 'f')}).status, 1);
  EXPECT_THAT(show({"--run", "xyz"}).err, HasSubstr("is no id of a run"));
}

TEST_F(AuditShow, ABeginningThatIsNotUniqueIsRefused) {
  // Of 17 ids two begin with the same digit.
  for (int i = 0; i < 17; ++i) record("true");
  int refused = 0;
  for (const char digit : std::string("0123456789abcdef")) {
    const Ended ended = show({"--run", std::string(1, digit)});
    if (ended.status != 125) continue;
    ++refused;
    EXPECT_THAT(ended.err, HasSubstr("more than one run begins with"));
  }
  EXPECT_GE(refused, 1);
}

TEST_F(AuditShow, HostileNamesDoNotReachTheTerminal) {
  record("\x1b]0;owned\x07\n\xc2\x9bname");
  const Ended table = show({});
  EXPECT_THAT(table.out, HasSubstr("\\x1b]0;owned"));
  const Ended json = show({"--json"});
  for (const Ended* const ended : {&table, &json}) {
    EXPECT_THAT(ended->out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(ended->out, Not(HasSubstr("\xc2\x9b")));
  }
}

TEST_F(AuditShow, DamagedLinesAreToldAndTheRestIsShown) {
  record("true");
  std::ofstream(log() + "/audit-00000001.jsonl", std::ios::app) << "no record\n";
  const Ended ended = show({});
  EXPECT_THAT(ended.err, HasSubstr("a line that is no record; see 'cordon audit verify'"));
  EXPECT_THAT(ended.out, HasSubstr("cleanup"));
}

TEST_F(AuditShow, AReaderThatHasHadEnoughIsNoError) {
  record("true");
  const std::string script =
      R"("$1" audit show "$2" --json | head -1 | wc -l; echo ${PIPESTATUS[0]})";
  const Ended ended = Command::program({"bash", "-c", script, "bash", CORDON_COMMAND, log()}).run();
  EXPECT_EQ(ended.out, "1\n0\n");
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(Command({"audit", "show", log()}).redirect(1, "/dev/full").run().status, 125);
}

TEST_F(AuditShow, FollowsUntilItIsInterrupted) {
  record("true");
  auto running = Command({"audit", "show", log(), "--follow", "--operation", "exit"}).start();
  ASSERT_TRUE(running.reads("true"));
  record("false");
  ASSERT_TRUE(running.reads("false"));
  running.signal(SIGINT);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, Not(HasSubstr("cleanup")));
}

TEST_F(AuditShow, FollowingEndsWithItsReader) {
  record("true");
  const std::string script = R"("$1" audit show "$2" --json --follow | head -1)";
  const Ended ended = Command::program({"bash", "-c", script, "bash", CORDON_COMMAND, log()}).run();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr(R"("operation":"start")"));
  EXPECT_EQ(ended.err, "");
}

TEST_F(AuditShow, BadValuesAreTold) {
  record("true");
  const auto complaint = [&](std::vector<std::string> options) {
    const Ended ended = show(std::move(options));
    EXPECT_EQ(ended.status, 125);
    return ended.err;
  };
  EXPECT_THAT(complaint({"--verdict", "timeot"}), HasSubstr("did you mean timeout?"));
  EXPECT_THAT(complaint({"--operation", "x"}), HasSubstr("is no operation"));
  EXPECT_THAT(complaint({"--since", "yesterday"}), HasSubstr("neither a time"));
  EXPECT_THAT(complaint({"--limit", "0"}), HasSubstr("would show nothing"));
  EXPECT_THAT(complaint({"--limit", "-1"}), HasSubstr("--limit"));
  EXPECT_THAT(complaint({"--program", ""}), HasSubstr("matches no program"));
}

TEST_F(AuditShow, TheUsualPlaceIsInTheStateOfTheUser) {
  const Ended ended = Command({"audit", "show"}).environment("XDG_STATE_HOME", path("state")).run();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr(path("state") + "/cordon/audit"));
}

}  // namespace
}  // namespace cordon::cli
