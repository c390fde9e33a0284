// What the command tells about itself.
#include <sstream>

#include "cordon/version.h"
#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;

class Help : public CliTest {};

TEST_F(Help, VersionIsThatOfTheLibrary) {
  const Ended ended = cordon({"--version"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "cordon " + std::string(version()) + "\n");
}

TEST_F(Help, NamesEveryVerb) {
  const Ended ended = cordon({"help"});
  EXPECT_EQ(ended.status, 0);
  for (const char* const verb : {"run", "batch", "plan", "policy", "doctor", "audit", "explain",
                                 "pool", "completion", "help"}) {
    EXPECT_THAT(ended.out, HasSubstr("\n  " + std::string(verb) + " "));
  }
  EXPECT_EQ(cordon({"--help"}).out, ended.out);
}

TEST_F(Help, OfRunHasOptionsExamplesAndExitStatuses) {
  const Ended ended = cordon({"run", "--help"});
  EXPECT_EQ(ended.status, 0);
  for (const char* const part :
       {"Usage: cordon run", "--timeout DUR", "(5m)", "Examples:", "Exit status:", "124", "125",
        "126", "127", "128+n", "Signals:", "no limit applies unless asked for", "Isolation",
        "--bind SRC:DST[:ro]", "[512M]"}) {
    EXPECT_THAT(ended.out, HasSubstr(part));
  }
  EXPECT_EQ(cordon({"help", "run"}).out, ended.out);
  EXPECT_EQ(cordon({"run", "--timeout", "5s", "--help"}).out, ended.out);
}

TEST_F(Help, OfTheOtherVerbsHasExamplesAndExitStatuses) {
  for (const std::string verb : {"plan", "policy", "doctor", "audit", "explain", "pool"}) {
    const Ended ended = cordon({verb, "--help"});
    EXPECT_EQ(ended.status, 0);
    for (const std::string& part : {"Usage: cordon " + verb, std::string("--json"),
                                    std::string("Exit status"), std::string("Examples:")}) {
      EXPECT_THAT(ended.out, HasSubstr(part));
    }
    EXPECT_EQ(cordon({"help", verb}).out, ended.out);
  }
}

TEST_F(Help, OfBatchHasKeysOptionsExamplesAndExitStatuses) {
  const Ended ended = cordon({"batch", "--help"});
  EXPECT_EQ(ended.status, 0);
  for (const char* const part :
       {"Usage: cordon batch", "Keys of a request:", "--jobs N", "--resume", "--memory SIZE",
        "Exit status:", "128+n", "Examples:"}) {
    EXPECT_THAT(ended.out, HasSubstr(part));
  }
  EXPECT_THAT(ended.out, testing::Not(HasSubstr("--secret")));
  EXPECT_EQ(cordon({"help", "batch"}).out, ended.out);
}

TEST_F(Help, FitsATerminal) {
  for (const auto& arguments : {std::vector<std::string>{"help"},
                                {"help", "run"},
                                {"help", "batch"},
                                {"help", "plan"},
                                {"help", "policy"},
                                {"help", "doctor"},
                                {"help", "audit"},
                                {"help", "explain"},
                                {"help", "pool"}}) {
    std::istringstream text(cordon(arguments).out);
    for (std::string line; std::getline(text, line);) {
      // Characters, not bytes.
      const auto width = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(width, 80) << line;
    }
  }
}

TEST_F(Help, ThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(Command({"run", "--help"}).redirect(1, "/dev/full").run().status, 125);
  EXPECT_EQ(Command({"--version"}).redirect(1, "/dev/full").run().status, 125);
}

}  // namespace
}  // namespace cordon::cli
