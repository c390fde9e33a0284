// The parts of a run together: policy, record, secrets, log, denials.
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A run under a policy, recorded in the test's own directory.
class Execution : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    const Ended ended = cordon({"run", "--cwd", directory(), "--", "true"});
    if (ended.status != 0) CORDON_SKIP("linux", ended.err);
    std::filesystem::create_directory(directory() / "work");
  }
  // The last one only: each takes the place of the one before.
  [[nodiscard]] std::string policy(const std::string& text) const {
    std::filesystem::remove(path("p.toml"));
    return file("p.toml", text);
  }
  [[nodiscard]] Command command(const std::string& policy, std::vector<std::string> more) const {
    std::vector<std::string> all = {"run", "--cwd", path("work"), "--policy", policy};
    all.insert(all.end(), more.begin(), more.end());
    return Command(all);
  }
  [[nodiscard]] Ended run(const std::string& policy, std::vector<std::string> more) const {
    return command(policy, std::move(more)).run();
  }
  [[nodiscard]] std::string audit() const { return path("log"); }
  // "[audit]" with that log.
  [[nodiscard]] std::string recorded() const {
    return "[audit]\ndirectory = \"" + audit() + "\"\n";
  }
};

TEST_F(Execution, DenialNamesTheLinesOfThePolicyAndIsToldAgain) {
  const std::string hidden = file("hidden", "x");
  const std::string strict =
      policy("[paths]\ncwd = [\"/\"]\nread = []\ndeny = [\"" + hidden + "\"]\n");
  const Ended ended =
      run(strict, {"--explain", "--audit", audit(), "--", "cat", hidden, path("missing")});
  EXPECT_EQ(ended.status, 1);
  const std::string told = "  read " + hidden + ": allow by --read " + hidden + ", once " + strict +
                           ":4 and " + strict + ":3 allow it\n";
  EXPECT_THAT(ended.err, HasSubstr(told));
  const std::size_t heading = ended.err.find("cordon: refused:\n");
  ASSERT_NE(heading, std::string::npos);
  EXPECT_THAT(ended.err.substr(heading), Not(HasSubstr("missing")));

  const Ended last = cordon({"explain", "--audit", audit()});
  EXPECT_EQ(last.status, 0) << last.err;
  EXPECT_THAT(ended.err, HasSubstr(last.out));
  EXPECT_THAT(last.out, HasSubstr(told));

  const std::size_t name = ended.err.find("this run is ");
  ASSERT_NE(name, std::string::npos);
  const std::string id = ended.err.substr(name + 12, 32);
  EXPECT_EQ(cordon({"explain", "--audit", audit(), id.substr(0, 12)}).out, last.out);
  const auto json = parse(cordon({"explain", "--audit", audit(), "--json", id}).out);
  EXPECT_EQ(json.at(0).at("kind"), "path");
}

TEST_F(Execution, ExplainSaysWhatItCannotTell) {
  const std::string open = policy(recorded());
  EXPECT_EQ(run(open, {"--", "true"}).status, 0);
  EXPECT_THAT(cordon({"explain", "--audit", audit()}).err, HasSubstr("no run with --explain"));
  EXPECT_EQ(run(open, {"--explain", "--", "no-such-program"}).status, 127);
  const Ended never = cordon({"explain", "--audit", audit()});
  EXPECT_EQ(never.status, 1);
  EXPECT_THAT(never.err, AllOf(HasSubstr("never began"), HasSubstr("no-such-program")));
  EXPECT_EQ(cordon({"explain", "--audit", audit(), "0000"}).status, 1);
  EXPECT_EQ(cordon({"explain", "--audit", path("nothing")}).status, 125);
  EXPECT_EQ(cordon({"explain", "one", "two"}).status, 125);
}

TEST_F(Execution, ExplainedRunIsRecordedEvenIfNobodySaysWhere) {
  const std::string hidden = file("hidden", "x");
  EXPECT_EQ(run(policy(""), {"--explain", "--", "cat", hidden}).status, 1);
  EXPECT_THAT(cordon({"explain"}).out, HasSubstr("read " + hidden));
}

TEST_F(Execution, ThePolicysLogIsUsedAndHoldsItsDigest) {
  const std::string open = policy(recorded() + "[limits]\nfiles = 64\n");
  EXPECT_EQ(run(open, {"--", "true"}).status, 0);
  EXPECT_EQ(run(open, {"--files", "65", "--", "true"}).status, 126);
  const Ended shown = cordon({"audit", "show", "--json", audit()});
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("\"operation\":\"start\""), HasSubstr("\"operation\":\"refused\""),
                    Not(HasSubstr("\"policy\":null"))));
  EXPECT_EQ(cordon({"audit", "verify", audit()}).status, 0);

  const Ended elsewhere = run(open, {"--audit", path("other"), "--", "true"});
  EXPECT_EQ(elsewhere.status, 126);
  EXPECT_THAT(elsewhere.err, AllOf(HasSubstr("--audit"), HasSubstr("p.toml:2")));
  EXPECT_FALSE(std::filesystem::exists(path("other")));
}

TEST_F(Execution, WithoutItsRecordNothingRunsUnlessThePolicySaysSo) {
  (void)file("log", "no directory");
  const Ended refused = run(policy(recorded()), {"--", "touch", path("work") + "/x"});
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.err, HasSubstr(audit()));
  const Ended proceeds =
      run(policy(recorded() + "on_failure = \"continue\"\n"), {"--", "echo", "ran"});
  EXPECT_EQ(proceeds.out, "ran\n");
  EXPECT_THAT(proceeds.err, HasSubstr("not everything was recorded"));
}

TEST_F(Execution, ASecretComesFromWhereThePolicySays) {
  const std::string value = file("token", "s3cr3t-value");
  ASSERT_EQ(::chmod(value.c_str(), 0600), 0);
  const std::string open = policy("[secrets.TOKEN]\nsource = \"file:" + value + "\"\n");
  const Ended ended =
      run(open, {"--secret", "TOKEN", "--", "sh", "-c", "test \"$TOKEN\" = s3cr3t-value"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const Ended other = run(open, {"--secret", "TOKEN=file:" + file("mine", "mine"), "--", "true"});
  EXPECT_EQ(other.status, 126);
  EXPECT_THAT(other.err, AllOf(HasSubstr("--secret"), HasSubstr("p.toml:1")));
  EXPECT_EQ(run(open, {"--secret", "ELSE=file:" + value, "--", "true"}).status, 126);
  EXPECT_EQ(run(open, {"--secret", "TOKEN=file:" + value + ",as=fd", "--", "true"}).status, 126);
  EXPECT_EQ(run(policy(""), {"--secret", "TOKEN", "--", "true"}).status, 125);
}

TEST_F(Execution, ASecretIsNoWayAroundTheRulesForVariables) {
  const std::string value = file("token", "/tmp/evil.so");
  ASSERT_EQ(::chmod(value.c_str(), 0600), 0);
  const std::string secret = "LD_PRELOAD=file:" + value;
  const Ended dangerous = run(policy("[limits]\nfiles = 64\n"), {"--secret", secret, "--", "true"});
  EXPECT_EQ(dangerous.status, 126);
  EXPECT_THAT(dangerous.err, HasSubstr("LD_PRELOAD"));
  const std::string settable = policy("[env]\nsettable = [\"A\"]\n");
  EXPECT_EQ(run(settable, {"--secret", "B=file:" + value, "--", "true"}).status, 126);
  EXPECT_EQ(run(settable, {"--secret", "A=file:" + value, "--", "true"}).status, 0);
}

TEST_F(Execution, SoManyRunAtOnceAndAKilledOneCountsNoMore) {  // C124
  const std::string few = policy("[limits]\nmax_processes = 1\n");
  Running first = command(few, {"--", "sh", "-c", "echo here; exec sleep 60"}).start();
  ASSERT_TRUE(first.reads("here"));
  const Ended second = run(few, {"--", "true"});
  EXPECT_EQ(second.status, 126);
  EXPECT_THAT(second.err, AllOf(HasSubstr("p.toml:2"), HasSubstr("max_processes")));
  first.signal(SIGKILL);
  (void)first.wait();
  EXPECT_EQ(run(few, {"--", "true"}).status, 0);
}

TEST_F(Execution, LogsGoWithoutSecrets) {
  const std::string value = file("token", "s3cr3t-value");
  ASSERT_EQ(::chmod(value.c_str(), 0600), 0);
  const Ended ended =
      run(policy(recorded()), {"--secret", "TOKEN=file:" + value, "--log", path("lines"), "--",
                               "sh", "-c", "echo a $TOKEN b; echo $TOKEN >&2"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(read_file(path("lines")), "[stdout] a [redacted TOKEN] b\n[stderr] [redacted TOKEN]\n");
  EXPECT_THAT(cordon({"audit", "show", "--json", audit()}).out, Not(HasSubstr("s3cr3t")));
}

// The place where an allowed program was found may be given to another one meanwhile.
TEST_F(Execution, AnAllowedScriptRunsByItsCheckedInterpreter) {
  const std::string shell = std::filesystem::canonical("/bin/sh");
  const std::string script = file("script", "#!/bin/sh\necho \"$0 $1\"\n", true);
  const std::string list = "allowed_programs = [\"" + script + "\"";
  EXPECT_EQ(run(policy(list + "]\n"), {"--read", script, "--", script}).status, 126);
  const std::string allowed = policy(list + ", \"" + shell + "\"]\n");
  const Ended ended = run(allowed, {"--read", script, "--", script, "one"});
  EXPECT_EQ(ended.out, script + " one\n") << ended.err;
  // Others could put another script in its place before the interpreter opens it.
  ASSERT_EQ(::chmod(directory().c_str(), 0777), 0);
  const Ended refused = run(allowed, {"--read", script, "--", script, "one"});
  EXPECT_NE(refused.status, 0);
  EXPECT_EQ(refused.out, "");
}

}  // namespace
}  // namespace cordon::cli
