// `cordon plan` tells what `cordon run` would do, and does nothing.
#include <filesystem>

#include "fixture.h"
#include "terminal_pair.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class PlanVerb : public CliTest {};

TEST_F(PlanVerb, ShowsStepsAndGuaranteesAndRunsNothing) {
  const Ended ended = cordon({"plan", "--backend", "posix", "--memory", "64M", "--cwd", directory(),
                              "--", "touch", path("made")});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, HasSubstr("backend posix\n"));
  EXPECT_THAT(ended.out, HasSubstr("step           detail\n"));
  EXPECT_THAT(ended.out, HasSubstr("\nlimit          memory 67108864\n"));
  EXPECT_THAT(ended.out, HasSubstr("\ndirectory      " + directory().string() + "\n"));
  EXPECT_THAT(ended.out, HasSubstr("/touch\n"));
  EXPECT_THAT(ended.out, HasSubstr("\n  ~ memory        partly enforced by RLIMIT_DATA"));
  EXPECT_THAT(ended.out, HasSubstr("\n  ✗ network       not enforced: "));
  EXPECT_THAT(ended.out, HasSubstr("\n  ✓ timeout       enforced by "));
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b"))) << "colours, although stdout is no terminal";
  EXPECT_FALSE(std::filesystem::exists(path("made")));
}

TEST_F(PlanVerb, PrintsOneJsonObject) {
  const Ended ended =
      cordon({"plan", "--json", "--backend", "posix", "--files", "64", "--", "true"});
  EXPECT_EQ(ended.status, 0);
  const auto plan = parse(ended.out);
  EXPECT_EQ(plan.at("schema"), "cordon.plan/1");
  EXPECT_EQ(plan.at("backend"), "posix");
  EXPECT_EQ(plan.at("steps").at(0).at("name"), "process group");
  EXPECT_TRUE(plan.at("steps").at(0).at("detail").is_string());
  EXPECT_EQ(plan.at("steps").as_array().back().at("name"), "execute");
  // The guarantees, as a run under the same options has them in its outcome.
  const auto run =
      parse(cordon({"run", "--json", "--backend", "posix", "--files", "64", "--", "true"}).out);
  EXPECT_EQ(plan.at("enforcement"), run.at("outcome").at("enforcement"));
}

TEST_F(PlanVerb, ExitsAsTheRunWouldFail) {
  const Ended missing = cordon({"plan", "--", "no-such-program"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_THAT(missing.err, HasSubstr("no-such-program"));
  EXPECT_EQ(cordon({"plan", "--", ""}).status, 125);

  const Ended required =
      cordon({"plan", "--backend", "posix", "--require", "network", "--", "true"});
  EXPECT_EQ(required.status, 125);
  EXPECT_THAT(required.out, HasSubstr("guarantees"));
  EXPECT_THAT(required.err, HasSubstr("--require asks for: network"));
  EXPECT_EQ(cordon({"plan", "--require", "timeout", "--", "true"}).status, 0);
}

TEST_F(PlanVerb, RefusesWhatMakesNoSenseWithoutARun) {
  const Ended ended = cordon({"plan", "--report", path("report"), "--", "true"});
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("no outcome to write; see 'cordon plan --help'"));
  EXPECT_FALSE(std::filesystem::exists(path("report")));
  EXPECT_THAT(cordon({"plan"}).err, HasSubstr("no program to run was given; see 'cordon plan"));
}

TEST_F(PlanVerb, HasColoursOnATerminalUnlessAskedNotTo) {
  for (const bool colours : {true, false}) {
    TerminalPair terminal(24, 80);
    Command command({"plan", "--backend", "posix", "--", "true"});
    command.environment("TERM", "xterm");
    command.environment("NO_COLOR", colours ? "" : "1");
    Running running = command.start_on(terminal.path(), terminal.take_user_end());
    const Ended ended = running.wait();
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.out, HasSubstr("timeout"));
    EXPECT_EQ(ended.out.find("\x1b[32m") != std::string::npos, colours);
  }
}

}  // namespace
}  // namespace cordon::cli
