// Policies and manifests at the command: what is refused, by which line, and what is said about
// files that are wrong.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class PolicyOptions : public CliTest {
 protected:
  // With the posix backend, which runs on every host.
  [[nodiscard]] Ended run(const std::string& policy, std::vector<std::string> rest) const {
    std::vector<std::string> all = {"run", "--backend", "posix", "--policy", policy};
    all.insert(all.end(), rest.begin(), rest.end());
    return cordon(std::move(all));
  }
  [[nodiscard]] std::string policy(const std::string& text) const { return file("p.toml", text); }
};

TEST_F(PolicyOptions, AnAskWithinThePolicyRuns) {
  const Ended ended =
      run(policy("[limits]\nfiles = 64\n"), {"--files", "32", "--", "sh", "-c", "ulimit -n"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "32\n");
}

TEST_F(PolicyOptions, WhatNobodyAsksForIsWhatThePolicySays) {
  EXPECT_EQ(run(policy("[limits]\nfiles = 64\n"), {"--", "sh", "-c", "ulimit -n"}).out, "64\n");
}

TEST_F(PolicyOptions, AnAskOutsideIsDeniedNamingBothPlaces) {
  const std::string file = policy("\n[limits]\nfiles = 64\n");
  const Ended ended = run(file, {"--files", "65", "--", "touch", path("made")});
  EXPECT_EQ(ended.status, 126);
  EXPECT_THAT(ended.err,
              HasSubstr("cordon: --files: files 65 is more than " + file + ":3 allows (64)"));
  EXPECT_FALSE(std::filesystem::exists(path("made")));
  const auto json = parse(run(file, {"--json", "--files", "65", "--", "true"}).out);
  EXPECT_EQ(json.at("outcome").at("verdict"), "denied");
  EXPECT_EQ(json.at("outcome").at("error").at("code"), "not_permitted");
  EXPECT_EQ(json.at("outcome").at("error").at("stage"), "policy");
}

TEST_F(PolicyOptions, ASecondFileOrProfileOnlyNarrows) {
  const std::string narrow =
      file("a.toml", "[limits]\nfiles = 64\n[profiles.more.limits]\nfiles = 999\n");
  const std::string wide = file("b.toml", "[limits]\nfiles = 999\n");
  EXPECT_EQ(run(narrow, {"--policy", wide, "--files", "65", "--", "true"}).status, 126);
  EXPECT_EQ(run(wide, {"--policy", narrow, "--files", "65", "--", "true"}).status, 126);
  EXPECT_EQ(run(narrow, {"--profile", "more", "--files", "65", "--", "true"}).status, 126);
  const Ended unknown = run(narrow, {"--profile", "mroe", "--", "true"});
  EXPECT_EQ(unknown.status, 125);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"more\"?"));
}

TEST_F(PolicyOptions, ACeilingThatTheBackendCannotKeepIsNotIgnored) {
  const Ended ended = run(policy("network = \"none\"\n"), {"--", "true"});
  EXPECT_EQ(ended.status, 126);
  EXPECT_THAT(ended.err, HasSubstr("cannot be kept by the backend posix"));
}

TEST_F(PolicyOptions, OnlyAllowedProgramsRunWhateverTheyAreCalled) {
  const std::string shell = std::filesystem::canonical("/bin/sh");
  const std::string allowed = policy("allowed_programs = [\"" + shell + "\"]\n");
  EXPECT_EQ(run(allowed, {"--", "sh", "-c", "echo $0"}).out, "sh\n") << "its name stays";
  const Ended other = run(allowed, {"--", "env", "true"});
  EXPECT_EQ(other.status, 126);
  EXPECT_THAT(other.err, HasSubstr("is not among those that " + allowed + ":1 allows"));

  std::filesystem::create_symlink(std::filesystem::canonical("/usr/bin/env"), path("sh"));
  const Ended tricked = Command({"run", "--backend", "posix", "--policy", allowed, "--", "sh"})
                            .environment("PATH", directory().string() + ":/usr/bin:/bin")
                            .run();
  EXPECT_EQ(tricked.status, 126) << tricked.err;
  std::filesystem::create_symlink(shell, path("innocent"));
  EXPECT_EQ(run(allowed, {"--cwd", directory(), "--", "./innocent", "-c", "exit 3"}).status, 3);
}

TEST_F(PolicyOptions, AScriptNeedsItselfAndItsInterpreter) {
  const std::string shell = std::filesystem::canonical("/bin/sh");
  const std::string script = file("script", "#!/usr/bin/env sh\necho \"$0 $1\"\n", true);
  const auto with = [&](const std::vector<std::string>& programs) {
    std::string list;
    for (const std::string& program : programs) list += "\"" + program + "\",";
    std::filesystem::remove(path("p.toml"));
    return run(policy("allowed_programs = [" + list + "]\n"), {"--", script, "hello"});
  };
  const std::string env = std::filesystem::canonical("/usr/bin/env");
  const Ended whole = with({script, env, shell});
  EXPECT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(whole.out, script + " hello\n");
  EXPECT_THAT(with({script, env}).err, HasSubstr("the interpreter " + shell + " is not among"));
  EXPECT_THAT(with({script, shell}).err, HasSubstr("the interpreter " + env + " is not among"));
  EXPECT_THAT(with({env, shell}).err, HasSubstr("the program " + script + " is not among"));
}

TEST_F(PolicyOptions, BadFilesAreClearErrors) {
  const auto error = [&](const std::string& text) {
    std::filesystem::remove(path("p.toml"));
    const Ended ended = run(policy(text), {"--", "touch", path("made")});
    EXPECT_EQ(ended.status, 125) << text;
    EXPECT_FALSE(std::filesystem::exists(path("made")));
    return ended.err;
  };
  EXPECT_THAT(error("[limits\n"), HasSubstr("p.toml:1:8: this is not TOML"));
  EXPECT_THAT(error("[limits]\nmemroy = \"1G\"\n"),
              HasSubstr("p.toml:2:1: unknown key \"memroy\" in limits: did you mean \"memory\"?"));
  EXPECT_THAT(error("[limits]\nmemory = true\n"), HasSubstr("but has to be a size"));
  EXPECT_THAT(error("include = [\"p.toml\"]\n"), HasSubstr("in a circle"));
  EXPECT_THAT(error("include = [\"missing.toml\"]\n"), HasSubstr("missing.toml"));
  EXPECT_THAT(error("[network]\nallowedDomains = [\"example.org\"]\n"),
              HasSubstr("filtering by domain is not available"));
}

TEST_F(PolicyOptions, AHugePolicyIsRefusedAtOnce) {
  const std::string huge = policy("");
  std::filesystem::permissions(huge, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  std::filesystem::resize_file(huge, 100U * 1024 * 1024);
  const Ended ended = run(huge, {"--", "true"});
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("is larger than 1024K"));
  EXPECT_LT(ended.wall, std::chrono::seconds(5));
}

TEST_F(PolicyOptions, APipeOrAnOpenFileIsNotUsed) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(run(path("pipe"), {"--", "true"}).err, HasSubstr("is a pipe"));
  const std::string open = policy("");
  ::chmod(open.c_str(), 0666);
  const Ended ended = run(open, {"--", "true"});
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("others may write to it"));
}

TEST_F(PolicyOptions, PlanRefusesAsRunDoes) {
  const Ended ended = cordon({"plan", "--backend", "posix", "--policy",
                              policy("[limits]\nfiles = 64\n"), "--files", "65", "--", "true"});
  EXPECT_EQ(ended.status, 126);
  EXPECT_THAT(ended.err, HasSubstr("files 65 is more than"));
}

class ManifestOption : public CliTest {
 protected:
  [[nodiscard]] Ended run(const std::string& manifest, std::vector<std::string> rest = {}) const {
    std::filesystem::remove(path("m.toml"));
    std::vector<std::string> all = {"run", "--manifest", file("m.toml", manifest)};
    all.insert(all.end(), rest.begin(), rest.end());
    return cordon(std::move(all));
  }
  static std::string with(const std::string& rest, const std::string& name = "server") {
    return "name = \"" + name + "\"\nversion = \"1.0\"\n" + rest;
  }
};

// C59–C61, C75.
TEST_F(ManifestOption, RunsItsEntryPointWithItsEnvironment) {
  (void)file("server", "#!/bin/sh\necho \"$MCP_BUNDLE_DIR $MODE $HOME $1 $2\"\n", true);
  const Ended ended =
      run(with("[entrypoint]\ncommand = \"./server\"\nargs = [\"one\"]\n[security]\n"
               "env = [\"MODE=quiet\", \"HOME=/evil\"]\n"),
          {"--cwd", "/usr", "--env", "HOME=/tmp", "--", "two"});
  if (ended.status == 125) CORDON_SKIP("linux", ended.err);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, std::filesystem::canonical(directory()).string() + " quiet /tmp one two\n");
}

TEST_F(ManifestOption, AsksOnlyWithinThePolicy) {
  const std::string policy = file("p.toml", "[limits]\nmemory = \"64M\"\n");
  const Ended ended =
      run(with("[entrypoint]\ncommand = \"true\"\n[security.limits]\nmemory = \"2G\"\n"),
          {"--policy", policy});
  EXPECT_EQ(ended.status, 126);
  EXPECT_THAT(ended.err,
              HasSubstr("m.toml:6: memory 2G is more than " + policy + ":2 allows (64M)"));
}

TEST_F(ManifestOption, BadManifestsAreClearErrors) {
  const auto error = [&](const std::string& manifest) {
    const Ended ended = run(manifest);
    EXPECT_EQ(ended.status, 125) << manifest;
    return ended.err;
  };
  EXPECT_THAT(error(with("[entrypoint]\ncommand = \"../evil\"\n")),
              HasSubstr("leads out of the manifest's directory"));
  EXPECT_THAT(error(with("[entrypoint]\ncommand = \"/bin/sh\"\n")),
              HasSubstr("is an absolute path"));
  EXPECT_THAT(error(with("[entrypoint]\ncommand = \"x\"\n", "../../x")),
              HasSubstr("name \"../../x\""));
  EXPECT_THAT(error(with("[entrypoint]\ncommand = \"x\"\n", "a\\nb")),
              HasSubstr("has a line break"));
  EXPECT_THAT(error(with("[entrypoint]\ncomand = \"x\"\n")), HasSubstr("\"command\""));
  std::filesystem::create_symlink("/bin/sh", path("link"));
  EXPECT_THAT(error(with("[entrypoint]\ncommand = \"./link\"\n")), HasSubstr("a symbolic link"));
  EXPECT_THAT(cordon({"run", "--manifest", path("none")}).err, HasSubstr("No such file"));
}

class PolicyVerb : public CliTest {};

TEST_F(PolicyVerb, CheckTellsWhichFilesAreRight) {
  const std::string good = file("good.toml", "[profiles.a]\n[profiles.b]\n");
  const std::string bad = file("bad.toml", "x = 1\n");
  const Ended ended = cordon({"policy", "check", good, bad});
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out, good + ": fine (profiles a, b)\n");
  EXPECT_THAT(ended.err, HasSubstr("bad.toml:1:1: unknown key \"x\""));
  EXPECT_EQ(cordon({"policy", "check"}).status, 125);
}

TEST_F(PolicyVerb, CheckFindsAFileThatRefusesItself) {
  const Ended ended =
      cordon({"policy", "check", file("p.toml", "[env.set]\nLD_PRELOAD = \"x\"\n")});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("allow_dangerous"));
}

TEST_F(PolicyVerb, TheSamplesAreRight) {
  for (const char* const name : {"strict.toml", "permissive.toml", "mcp.toml"}) {
    const std::string copy = file(name, read_file(std::string(CORDON_CONFIGS) + "/" + name));
    const Ended ended = cordon({"policy", "check", copy});
    EXPECT_EQ(ended.status, 0) << ended.err;
  }
}

// C76.
TEST_F(PolicyVerb, StrictHoldsTheLimitsOfTheDocuments) {
  const std::string copy =
      file("strict.toml", read_file(std::string(CORDON_CONFIGS) + "/strict.toml"));
  const Ended ended =
      cordon({"policy", "explain", "--json", "--policy", copy, "--cwd", "/usr", "--", "true"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  std::map<std::string, std::string> values;
  const auto explained = parse(ended.out);
  for (const auto& one : explained.at("decisions").as_array()) {
    if (one.at("value").is_string())
      values[one.at("subject").as_string().c_str()] = one.at("value").as_string().c_str();
  }
  EXPECT_EQ(values["cpu"], "1000 millicores");
  EXPECT_EQ(values["memory"], "512M");
  EXPECT_EQ(values["pids"], "32");
  EXPECT_EQ(values["files"], "256");
  EXPECT_EQ(values["timeout"], "5m");
  // Nothing more can be asked for.
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--memory", "513M"},
                                               {"--pids", "33"},
                                               {"--files", "257"},
                                               {"--cpus", "1.001"},
                                               {"--timeout", "301s"},
                                               {"--timeout", "none"},
                                               {"--net", "loopback"},
                                               {"--read", "/var"},
                                               {"--write", "/var"},
                                               {"--env", "LD_PRELOAD=x"},
                                               {"--backend", "posix"}}) {
    std::vector<std::string> all = {"policy", "explain", "--policy", copy, "--cwd", "/usr"};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "true"});
    EXPECT_EQ(cordon(all).status, 126) << more.front() << " " << more.back();
  }
}

TEST_F(PolicyVerb, ExplainShowsEachDecisionWithItsPlaces) {
  const std::string policy = file("p.toml", "network = \"loopback\"\n[limits]\nmemory = \"64M\"\n");
  const Ended ended = cordon({"policy", "explain", "--policy", policy, "--memory", "1G", "--net",
                              "loopback", "--cwd", "/usr", "--", "true"});
  EXPECT_EQ(ended.status, 126);
  EXPECT_THAT(ended.out, HasSubstr("subject"));
  EXPECT_THAT(ended.out, testing::ContainsRegex("✗ memory +1G +--memory +" + policy + ":3\n"));
  EXPECT_THAT(ended.out, testing::ContainsRegex("✓ network +loopback +--net +" + policy + ":1\n"));
  EXPECT_THAT(ended.out, HasSubstr("\nrefused\n--memory: memory 1G is more than"));
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
  const Ended allowed =
      cordon({"policy", "explain", "--policy", policy, "--cwd", "/usr", "--", "true"});
  EXPECT_EQ(allowed.status, 0);
  EXPECT_THAT(allowed.out, HasSubstr("\nallowed\n"));
}

TEST_F(PolicyVerb, ExplainsHostileNamesHarmlessly) {
  const std::string policy = file("p.toml", "[paths]\nread = []\n");
  std::filesystem::create_directory(path("\x1b]0;evil\a"));
  const Ended ended = cordon({"policy", "explain", "--policy", policy, "--cwd", "/usr", "--read",
                              path("\x1b]0;evil\a"), "--", "true"});
  EXPECT_EQ(ended.status, 126);
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(ended.out, HasSubstr("\\x1b]0;evil\\x07"));
}

TEST_F(PolicyVerb, ShowPrintsABuiltInProfileThatIsAFileLikeAnyOther) {
  EXPECT_EQ(cordon({"policy", "show"}).out, "mcp\n");
  const Ended shown = cordon({"policy", "show", "mcp"});
  EXPECT_EQ(shown.status, 0);
  const std::string copy = file("copy.toml", shown.out);
  EXPECT_THAT(cordon({"policy", "check", copy}).out, HasSubstr("fine"));
  EXPECT_THAT(cordon({"policy", "show", "mpc"}).err, HasSubstr("did you mean 'mcp'?"));
  EXPECT_EQ(cordon({"policy", "show", "mcp", "mcp"}).status, 125);
}

TEST_F(PolicyVerb, ABuiltInProfileBoundsARunAndGivesItADirectory) {
  const Ended ended = cordon({"run", "--profile", "mcp", "--", "sh", "-c", "pwd; touch made"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("/work/sh-"));
  EXPECT_FALSE(std::filesystem::exists(path("made")));
  const Ended planned = cordon({"plan", "--profile", "mcp", "--", "true"});
  EXPECT_THAT(planned.out, HasSubstr("/work/true-"));
  const Ended refused =
      cordon({"run", "--profile", "mcp", "--env", "LD_PRELOAD=/x.so", "--", "true"});
  EXPECT_EQ(refused.status, 126);
  EXPECT_THAT(refused.err, HasSubstr("allow_dangerous of built-in profile mcp:"));
  const Ended posix = cordon({"run", "--profile", "mcp", "--backend", "posix", "--", "true"});
  EXPECT_EQ(posix.status, 126);
}

TEST_F(PolicyVerb, WrongUsageIsSaid) {
  EXPECT_EQ(cordon({"policy"}).status, 125);
  EXPECT_THAT(cordon({"policy", "chek"}).err, HasSubstr("did you mean 'check'?"));
  EXPECT_EQ(cordon({"policy", "explain"}).status, 125);
  EXPECT_THAT(cordon({"policy", "--help"}).out, HasSubstr("Usage: cordon policy check"));
  EXPECT_THAT(cordon({"help", "policy"}).out, HasSubstr("Usage: cordon policy check"));
}

}  // namespace
}  // namespace cordon::cli
