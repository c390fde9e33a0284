// Asks against ceilings, subject by subject.
#include "policy/evaluate.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "policy/testing.h"

namespace cordon::policy {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMebi = 1024 * 1024;

TEST(PolicyLimits, AnAskAboveTheCeilingNamesBothPlaces) {
  const Policy policy = policy_of({{"site.toml", "[limits]\n\nmemory = \"512M\"\n"}});
  Asks asks;
  asks.request.limits.memory_bytes = 2048 * kMebi;
  EXPECT_EQ(refusal(evaluate_all(policy, asks)),
            "--memory: memory 2G is more than site.toml:3 allows (512M): ask for no more than "
            "that, or raise the limit there");
  asks.request.limits.memory_bytes = 512 * kMebi;
  EXPECT_EQ(refusal(evaluate_all(policy, asks)), "");

  asks.manifest =
      read_manifest(
          "name = \"a\"\nversion = \"1\"\nentrypoint = {command = \"x\"}\n[security.limits]\n"
          "memory = \"2G\"\n",
          "m.toml")
          .value();
  EXPECT_THAT(refusal(evaluate_all(policy, asks)),
              HasSubstr("m.toml:5: memory 2G is more than site.toml:3 allows (512M)"));
}

TEST(PolicyLimits, WhatNobodyAsksForIsTheDefaultWithinTheCeiling) {
  const Policy policy = policy_of({{"a",
                                    "[limits]\nmemory = \"256M\"\npids = 1000\ntimeout = \"1h\"\n"
                                    "file_size = \"1G\"\n[defaults]\nfiles = 99\n"},
                                   {"b", "[limits]\nfiles = 64\n"}});
  Surroundings here;
  here.usual = {.memory_bytes = 512 * kMebi, .open_files = 1024, .processes = 128};
  const Request request = evaluate_all(policy, {}, here).request;
  EXPECT_EQ(request.limits.memory_bytes, 256 * kMebi) << "the ceiling is lower than usual";
  EXPECT_EQ(request.limits.processes, 128U) << "what is usual is lower than the ceiling";
  EXPECT_EQ(request.limits.open_files, 64U) << "a default above the ceiling";
  EXPECT_EQ(request.limits.file_size_bytes, 1024 * kMebi) << "nothing is usual";
  EXPECT_EQ(request.timeout, kDefaultTimeout);
  EXPECT_FALSE(request.limits.cpu_time) << "nobody speaks of it";
}

TEST(PolicyLimits, NoTimeoutIsMoreThanAny) {
  const Policy policy = policy_of({{"site.toml", "[limits]\ntimeout = \"1h\"\ngrace = \"1s\"\n"}});
  Asks asks;
  asks.request.timeout = kNoTimeout;
  EXPECT_THAT(refusal(evaluate_all(policy, asks)), HasSubstr("--timeout: timeout none is more"));
  EXPECT_EQ(evaluate_all(policy, {}).request.grace, std::chrono::seconds(1));
}

// C124, C125.
TEST(PolicyLimits, LiveRunsAndBuffersAreBounded) {
  const Policy policy =
      policy_of({{"site.toml", "[limits]\nmax_processes = 10\nmax_output_buffer = 65536\n"}});
  Surroundings here;
  here.live_runs = 9;
  EXPECT_EQ(refusal(evaluate_all(policy, {}, here)), "");
  EXPECT_EQ(evaluate_all(policy, {}, here).request.event_buffer, 65536U);
  here.live_runs = 10;
  EXPECT_THAT(refusal(evaluate_all(policy, {}, here)), HasSubstr("10 runs are alive, and"));
  Asks asks;
  asks.request.event_buffer = 65537;
  EXPECT_THAT(refusal(evaluate_all(policy, asks)), HasSubstr("max_output_buffer 65537 is more"));
}

Asks granting(Grant grant) {
  Asks asks;
  asks.request.grants = {std::move(grant)};
  return asks;
}

TEST(PolicyPaths, GrantsStayBelowWhatIsAllowed) {
  const Policy policy =
      policy_of({{"site.toml", "[paths]\nread = [\"/srv\"]\nwrite = [\"/srv/out\"]\n"}});
  EXPECT_EQ(refusal(evaluate_all(policy, granting(Grant::read("/srv/data")))), "");
  EXPECT_EQ(refusal(evaluate_all(policy, granting(Grant::write("/srv/out/x")))), "");
  EXPECT_EQ(refusal(evaluate_all(policy, granting(Grant::read("/srvx")))),
            "--read: read of /srvx is not below what site.toml:2 allows: choose another path, or "
            "add it there");
  EXPECT_THAT(refusal(evaluate_all(policy, granting(Grant::write("/srv")))),
              HasSubstr("site.toml:3"));
  EXPECT_THAT(refusal(evaluate_all(policy, granting(Grant::read("/srv/../etc")))), HasSubstr(".."));
  EXPECT_EQ(refusal(evaluate_all(policy, granting(Grant::tmpfs("/scratch")))), "");
}

TEST(PolicyPaths, AListForReadingAllowsNoWriting) {
  const Policy policy = policy_of({{"site.toml", "[paths]\nread = [\"/srv\"]\n"}});
  EXPECT_NE(refusal(evaluate_all(policy, granting(Grant::write("/srv")))), "");
}

TEST(PolicyPaths, DenyWinsAtAboveAndBelow) {
  const Policy policy =
      policy_of({{"site.toml",
                  "[paths]\nread = [\"/srv\"]\nwrite = [\"/srv\"]\ndeny = [\"/srv/key\"]\n"
                  "deny_write = [\"/srv/conf\"]\n"}});
  EXPECT_THAT(refusal(evaluate_all(policy, granting(Grant::read("/srv/key/a")))),
              HasSubstr("is what site.toml:4 denies"));
  EXPECT_THAT(refusal(evaluate_all(policy, granting(Grant::read("/srv")))),
              HasSubstr("would show /srv/key, which site.toml:4 denies"));
  EXPECT_EQ(refusal(evaluate_all(policy, granting(Grant::read("/srv/conf")))), "");
  EXPECT_NE(refusal(evaluate_all(policy, granting(Grant::write("/srv/conf")))), "");
}

// C127.
TEST(PolicyPaths, TheWorkingDirectoryIsAnAskToo) {
  const Policy allowed = policy_of({{"site.toml", "allowed_paths = [\"/tmp/x\"]\n"}});
  Surroundings here;
  here.cwd = "/tmp/x/y";
  EXPECT_EQ(refusal(evaluate_all(allowed, {}, here)), "");
  here.cwd = "/home/me";
  EXPECT_THAT(refusal(evaluate_all(allowed, {}, here)),
              HasSubstr("the current directory: cwd of /home/me is not below what site.toml:1"));

  const Policy reading = policy_of({{"site.toml", "[paths]\nread = [\"/srv\"]\n"}});
  EXPECT_NE(refusal(evaluate_all(reading, {}, here)), "") << "it would be shown";
  here.cwd = "/usr/share";
  EXPECT_EQ(refusal(evaluate_all(reading, {}, here)), "") << "always shown";

  // Inside, this is another directory of the host.
  Asks asks = granting(Grant::bind("/srv/a", "/home/me", Grant::Kind::read));
  here.cwd = "/home/me/b";
  EXPECT_EQ(refusal(evaluate_all(reading, asks, here)), "");
  EXPECT_NE(refusal(evaluate_all(allowed, asks, here)), "");
}

TEST(PolicyPaths, WhatAPolicyGrantsIsJudgedLikeAnyAsk) {
  const Policy policy = policy_of({{"a", "[paths]\nread = [\"/srv\"]\n"},
                                   {"b", "[grants]\nread = [\"/srv/x\", \"/etc/shadow\"]\n"}});
  EXPECT_THAT(refusal(evaluate_all(policy, {})),
              HasSubstr("b:2: read of /etc/shadow is not below"));
}

TEST(PolicyPaths, WhatAFileGrantsItAlsoAllowsButOthersNeedNot) {
  const std::string own = "[paths]\nread = []\n[grants]\nread = [\"/srv/x\"]\n";
  const Policy policy = policy_of({{"a", own}});
  const Evaluation evaluation = evaluate_all(policy, {});
  EXPECT_EQ(refusal(evaluation), "");
  ASSERT_EQ(evaluation.request.grants.size(), 1U);
  EXPECT_EQ(evaluation.request.grants.front().source, "/srv/x");
  EXPECT_NE(refusal(evaluate_all(policy_of({{"a", own}, {"b", "[paths]\nread = []\n"}}), {})), "");
  EXPECT_NE(refusal(evaluate_all(
                policy_of({{"a", own + "[profiles.p.paths]\ndeny = [\"/srv\"]\n"}}, "p"), {})),
            "");
}

TEST(PolicyIsolation, NetworkIsTheLeastOfAll) {
  const Policy policy = policy_of(
      {{"a", "network = \"loopback\"\n"}, {"b", "network = \"host\"\nunix_sockets = false\n"}});
  Asks asks;
  asks.request.network = Network::host;
  EXPECT_THAT(refusal(evaluate_all(policy, asks)),
              HasSubstr("--net: network host is more than a:1 allows (loopback)"));
  asks.request.network = Network::loopback;
  EXPECT_EQ(refusal(evaluate_all(policy, asks)), "");
  EXPECT_FALSE(evaluate_all(policy, asks).request.unix_sockets);
}

TEST(PolicyIsolation, ABackendThatCannotKeepACeilingIsRefused) {
  Surroundings here;
  here.backend = "posix";
  here.isolates = false;
  for (const char* const text : {"network = \"none\"\n", "unix_sockets = false\n",
                                 "[paths]\nread = []\n", "[paths]\ndeny = [\"/srv\"]\n"}) {
    EXPECT_THAT(refusal(evaluate_all(policy_of({{"a", text}}), {}, here)),
                HasSubstr("cannot be kept by the backend posix"));
  }
  EXPECT_EQ(refusal(evaluate_all(policy_of({{"a", "network = \"host\"\n"}}), {}, here)), "");
  EXPECT_THAT(refusal(evaluate_all(policy_of({{"a", "backends = [\"linux\"]\n"}}), {}, here)),
              HasSubstr("the backend posix is not among those that a:1 allows"));
}

TEST(PolicyIsolation, UsersAreAllowedByNameOrNumberWithTheirOwnGroup) {
  const Policy policy = policy_of({{"a", "users = [\"nobody\", \"1000\", \"me:users\"]\n"}});
  const auto with = [&](UserFacts user) {
    Surroundings here;
    here.user = std::move(user);
    return refusal(evaluate_all(policy, {}, here));
  };
  EXPECT_EQ(with({65534, 65534, "nobody", "nogroup", 65534}), "");
  EXPECT_EQ(with({1000, 1000, "", "", 1000}), "");
  EXPECT_EQ(with({7, 100, "me", "users", 7}), "");
  EXPECT_THAT(with({65534, 0, "nobody", "root", 65534}), HasSubstr("the user nobody:root is not"));
  EXPECT_THAT(with({0, 0, "root", "root", 0}), HasSubstr("the user root is not among"));
  EXPECT_EQ(refusal(evaluate_all(policy, {})), "") << "an id of the run's own";
}

TEST(PolicyIsolation, SecretsAreThoseOfTheFileFromTheirSource) {
  const Policy policy = policy_of({{"a", "[secrets.KEY]\nsource = \"file:/run/key\"\n"}});
  Asks asks;
  asks.secrets = {{.name = "KEY", .asked_by = {.file = "--secret"}}};
  const Evaluation given = evaluate_all(policy, asks);
  EXPECT_EQ(refusal(given), "");
  ASSERT_EQ(given.secrets.size(), 1U);
  EXPECT_EQ(given.secrets.front().second.from, "/run/key");
  asks.secrets.front().source = SecretRule{.kind = SecretRule::Kind::file, .from = "/etc/shadow"};
  EXPECT_THAT(refusal(evaluate_all(policy, asks)), HasSubstr("comes from another source than"));
  asks.secrets = {{.name = "OTHER", .asked_by = {.file = "--secret"}}};
  EXPECT_THAT(refusal(evaluate_all(policy, asks)), HasSubstr("is not among those of a:1"));
}

ProgramFile file(std::string path, std::vector<std::string> args = {}, std::string digest = "") {
  return {std::move(path), std::move(digest), std::move(args), "program"};
}

std::string run(const Policy& policy, const std::vector<ProgramFile>& files) {
  Evaluation evaluation;
  judge_programs(policy, files, {}, evaluation);
  return refusal(evaluation);
}

TEST(PolicyPrograms, OnlyThoseOfTheListInEveryFile) {
  const Policy policy = policy_of({{"a", "allowed_programs = [\"/usr/bin/ls\", \"/opt/*\"]\n"},
                                   {"b", "denied_programs = [\"/opt/evil\"]\n"}});
  EXPECT_EQ(run(policy, {file("/usr/bin/ls")}), "");
  EXPECT_EQ(run(policy, {file("/opt/good")}), "");
  EXPECT_THAT(run(policy, {file("/opt/evil")}), HasSubstr("is denied by b:1"));
  EXPECT_EQ(run(policy, {file("/usr/bin/lsof")}),
            "PROGRAM: the program /usr/bin/lsof is not among those that a:1 allows: run another, "
            "or add it there");
  EXPECT_NE(run(policy, {file("/usr/bin/ls"), file("/usr/bin/sh")}), "") << "its interpreter";
  EXPECT_NE(run(policy_of({{"a", "allowed_programs = []\n"}}), {file("/usr/bin/ls")}), "");
}

TEST(PolicyPrograms, DigestsAndArgumentsHaveToBeRight) {
  const std::string digest(64, 'a');
  const Policy policy =
      policy_of({{"a", "[[program]]\npath = \"/bin/x\"\nsha256 = \"" + std::string(64, 'A') +
                           "\"\n[[program]]\npath = \"/bin/git\"\nargs_prefix = "
                           "[\"status\"]\n[[program]]\npath = \"/bin/cp\"\n"
                           "args_pattern = [\"/in/*\", \"/out/*\"]\n[[program]]\n"
                           "path = \"/bin/date\"\nargs = []\n"}});
  EXPECT_TRUE(needs_digests(policy));
  EXPECT_EQ(run(policy, {file("/bin/x", {}, digest)}), "");
  EXPECT_THAT(run(policy, {file("/bin/x", {}, std::string(64, 'b'))}), HasSubstr("SHA-256 is bbb"));
  EXPECT_EQ(run(policy, {file("/bin/git", {"status", "-s"})}), "");
  EXPECT_THAT(run(policy, {file("/bin/git", {"push"})}), HasSubstr("a:5 allows: its arguments do"));
  EXPECT_NE(run(policy, {file("/bin/git", {})}), "");
  EXPECT_EQ(run(policy, {file("/bin/cp", {"/in/a", "/out/b"})}), "");
  EXPECT_NE(run(policy, {file("/bin/cp", {"/in/a", "/out/b", "/x"})}), "");
  EXPECT_NE(run(policy, {file("/bin/cp", {"/etc/shadow", "/out/b"})}), "");
  EXPECT_NE(run(policy, {file("/bin/date", {"-s", "now"})}), "");
}

TEST(PolicyPrograms, NothingIsPutInThePlaceOfWhatTheyLoad) {
  const Policy policy = policy_of({{"a", "allowed_programs = [\"/usr/bin/ls\"]\n"}});
  for (const char* const target :
       {"/usr/bin", "/lib/x86_64-linux-gnu", "/etc", "/etc/ld.so.preload"}) {
    EXPECT_THAT(refusal(evaluate_all(
                    policy, granting(Grant::bind("/srv/evil", target, Grant::Kind::read)))),
                HasSubstr("would change what programs load, while a:1"));
    EXPECT_NE(refusal(evaluate_all(policy, granting(Grant::tmpfs(target)))), "");
  }
  EXPECT_EQ(
      refusal(evaluate_all(policy, granting(Grant::bind("/srv/a", "/data", Grant::Kind::read)))),
      "");
}

}  // namespace
}  // namespace cordon::policy
