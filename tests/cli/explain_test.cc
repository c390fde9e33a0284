// cordon run --explain.
#include <fstream>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Explain : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    const Ended ended = cordon({"run", "--cwd", directory(), "--", "true"});
    if (ended.status != 0) CORDON_SKIP("linux", ended.err);
  }
  // A path in the file `secret`, which the program is not granted.
  [[nodiscard]] std::string secret() const {
    std::filesystem::create_directory(directory() / "work");
    return file("secret", "x");
  }
  [[nodiscard]] Ended run(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"run", "--explain", "--cwd", path("work")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cordon(arguments);
  }
};

TEST_F(Explain, SaysAfterTheProgramsOwnErrorWhatWouldAllowIt) {
  const std::string hidden = secret();
  const Ended ended = run({"--", "cat", hidden});
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out, "");
  const std::size_t own = ended.err.find("No such file or directory");
  const std::size_t told = ended.err.find("cordon: refused:\n");
  ASSERT_NE(own, std::string::npos) << ended.err;
  ASSERT_NE(told, std::string::npos) << ended.err;
  EXPECT_LT(own, told);
  EXPECT_THAT(ended.err, HasSubstr("  read " + hidden + ": allow by --read " + hidden + "\n"));
}

// The option that is named does what is said of it.
TEST_F(Explain, WhatItNamesAllowsIt) {
  const std::string hidden = secret();
  const Ended ended = run({"--read", hidden, "--", "cat", hidden});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "x");
  EXPECT_THAT(ended.err, Not(HasSubstr(hidden)));
}

TEST_F(Explain, OrdinaryMissingFileIsNotNamed) {
  (void)secret();
  const Ended ended = run({"--", "cat", path("missing")});
  EXPECT_EQ(ended.status, 1);
  const std::size_t told = ended.err.find("cordon: ");
  ASSERT_NE(told, std::string::npos);
  EXPECT_THAT(ended.err.substr(told), Not(HasSubstr("missing")));
}

TEST_F(Explain, NothingRefusedIsSaid) {
  (void)secret();
  const Ended ended = run({"--", "true"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "cordon: nothing was seen to be refused\n");
}

TEST_F(Explain, VerdictComesFirst) {
  const std::string hidden = secret();
  const Ended ended = run({"--timeout", "300ms", "--", "sh", "-c", "cat " + hidden + "; sleep 30"});
  EXPECT_EQ(ended.status, 5);
  EXPECT_LT(ended.err.find("cordon: timeout:"), ended.err.find("cordon: refused:")) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("read " + hidden));
}

TEST_F(Explain, JsonAndReportHaveTheDenials) {
  const std::string hidden = secret();
  const Ended ended = run({"--json", "--report", path("r.json"), "--", "cat", hidden});
  EXPECT_EQ(ended.err, "");
  for (const auto& outcome : {parse(ended.out).at("outcome"), parse(read_file(path("r.json")))}) {
    bool found = false;
    for (const auto& denial : outcome.at("denials").as_array()) {
      if (denial.at("what") != boost::json::string(hidden)) continue;
      found = true;
      EXPECT_EQ(denial.at("kind"), "path");
      EXPECT_EQ(denial.at("access"), "read");
      EXPECT_EQ(denial.at("allow"), boost::json::string("--read " + hidden));
      EXPECT_GE(denial.at("count").to_number<int>(), 1);
    }
    EXPECT_TRUE(found);
    EXPECT_EQ(outcome.at("denials_omitted"), 0);
  }
}

TEST_F(Explain, NamesThatCommandATerminalDoNot) {
  (void)secret();
  std::filesystem::create_directories(directory() / "evil\x1b[2J\n  read ");
  const std::string below = directory() / "evil\x1b[2J\n  read " / "x";
  std::ofstream(below) << "x";
  const Ended ended = run({"--", "cat", below});
  const std::string told = ended.err.substr(ended.err.find("cordon: "));
  EXPECT_THAT(told, Not(HasSubstr("\x1b")));
  EXPECT_THAT(told, HasSubstr(R"(evil\x1b[2J\n)"));
}

TEST_F(Explain, WithoutItNothingIsSaid) {
  const std::string hidden = secret();
  const Ended ended = cordon({"run", "--cwd", path("work"), "--", "cat", hidden});
  EXPECT_THAT(ended.err, Not(HasSubstr("cordon: ")));
}

TEST_F(Explain, PlanShowsTheObserver) {
  (void)secret();
  EXPECT_THAT(cordon({"plan", "--explain", "--cwd", path("work"), "--", "true"}).out,
              HasSubstr("by seccomp notification"));
  EXPECT_THAT(cordon({"plan", "--cwd", path("work"), "--", "true"}).out,
              Not(HasSubstr("by seccomp notification")));
}

TEST_F(Explain, ProgramThatIsNotFoundIsNoRefusal) {
  (void)secret();
  const Ended ended = run({"--", "no-such-program"});
  EXPECT_EQ(ended.status, 127);
  EXPECT_THAT(ended.err, Not(HasSubstr("refused")));
}

}  // namespace
}  // namespace cordon::cli
