// C58–C61: what of the environment goes in, and what never does without a grant.
#include "request/environment.h"

#include <gmock/gmock.h>

#include "policy/env_names.h"
#include "policy/testing.h"

namespace cordon::policy {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

// The variables the program would see.
std::vector<std::string> seen(const Policy& policy, const Asks& asks,
                              std::vector<std::string> caller) {
  Surroundings here;
  here.environment = std::move(caller);
  here.mcp_home = "/home/me/.mcp";
  const Evaluation evaluation = evaluate_all(policy, asks, here);
  const std::vector<std::string_view> host(here.environment.begin(), here.environment.end());
  return request::resolve_environment(evaluation.request, host);
}

Manifest manifest_with(const std::string& env) {
  return read_manifest(
             "name = \"a\"\nversion = \"1\"\nentrypoint = {command = \"x\"}\n[security]\nenv = " +
                 env + "\n",
             "m.toml")
      .value();
}

TEST(PolicyEnvironment, OnlyWhatEveryFileListsPasses) {
  const Policy policy = policy_of({{"a", "[env]\npass = [\"PATH\", \"LC_*\", \"HOME\"]\n"},
                                   {"b", "[env]\npass = [\"PATH\", \"LC_ALL\"]\n"}});
  EXPECT_THAT(seen(policy, {}, {"PATH=/bin", "HOME=/h", "LC_ALL=C", "LC_TIME=C", "TOKEN=1"}),
              UnorderedElementsAre("PATH=/bin", "LC_ALL=C"));
  EXPECT_THAT(seen(policy_of({{"a", "[env]\nclean = true\n"}}), {}, {"PATH=/bin", "HOME=/h"}),
              UnorderedElementsAre());
}

TEST(PolicyEnvironment, AskingForMoreIsRefusedByName) {
  const Policy policy = policy_of({{"a", "[env]\npass = [\"PATH\"]\nsettable = [\"MY_*\"]\n"}});
  Asks asks;
  asks.request.env_pass.emplace_back("TOKEN");
  EXPECT_EQ(refusal(evaluate_all(policy, asks)),
            "--env: the variable TOKEN is not in env.pass of a:2: leave it out, or add it there");
  asks.request.env_pass = {"TOK*"};
  EXPECT_EQ(refusal(evaluate_all(policy, asks)), "") << "there is none";
  Surroundings here;
  here.environment = {"TOKEN=1"};
  EXPECT_THAT(refusal(evaluate_all(policy, asks, here)),
              HasSubstr("--env-pass: the variable TOKEN"));
  asks.request.env_pass = {};
  asks.request.env = {{"MY_A", "1"}};
  EXPECT_EQ(refusal(evaluate_all(policy, asks)), "");
  asks.request.env = {{"OTHER", "1"}};
  EXPECT_THAT(refusal(evaluate_all(policy, asks)),
              HasSubstr("OTHER is not in env.settable of a:3"));
}

TEST(PolicyEnvironment, DangerousNamesNeedTheirExactNameInEveryFile) {
  for (const char* const name :
       {"LD_PRELOAD",    "LD_LIBRARY_PATH", "NODE_OPTIONS",      "PYTHONPATH",
        "PYTHONSTARTUP", "PYTHONHOME",      "PERL5LIB",          "PERL5OPT",
        "RUBYOPT",       "RUBYLIB",         "BASH_ENV",          "ENV",
        "IFS",           "GIT_SSH_COMMAND", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
        "GCONV_PATH",    "LOCPATH",         "MALLOC_CHECK_",     "GLIBC_TUNABLES"}) {
    EXPECT_TRUE(is_dangerous(name)) << name;
    Asks asks;
    asks.request.env = {{name, "x"}};
    EXPECT_THAT(refusal(evaluate_all(policy_of({{"a", ""}}), asks)),
                HasSubstr("allow_dangerous of a"));
    const std::string grant = "[env]\nallow_dangerous = [\"" + std::string(name) + "\"]\n";
    EXPECT_EQ(refusal(evaluate_all(policy_of({{"a", grant}}), asks)), "");
    EXPECT_NE(refusal(evaluate_all(policy_of({{"a", grant}, {"b", ""}}), asks)), "");
    EXPECT_NE(refusal(evaluate_all(policy_of({{"a", ""}, {"b", grant}}), asks)), "");
    EXPECT_EQ(refusal(evaluate_all({}, asks)), "") << "without a file the caller decides";
  }
  for (const char* const name : {"PATH", "NODE_ENV", "PYTHONUNBUFFERED", "LANG"}) {
    EXPECT_FALSE(is_dangerous(name)) << name;
  }
}

TEST(PolicyEnvironment, PatternsNeverReachDangerousNames) {
  Asks asks;
  asks.request.env_pass = {"*"};
  EXPECT_THAT(seen({}, asks, {"A=1", "LD_PRELOAD=/evil.so"}), UnorderedElementsAre("A=1"));
  const Policy all = policy_of({{"a", "[env]\npass = [\"*\"]\n"}});
  EXPECT_THAT(seen(all, asks, {"A=1", "LD_PRELOAD=/evil.so"}), UnorderedElementsAre("A=1"));
  // A variable whose own name is a pattern must not become one.
  EXPECT_THAT(seen(policy_of({{"a", "[env]\npass = [\"*\"]\n"}}), asks, {"L*=1", "LD_PRELOAD=x"}),
              UnorderedElementsAre());
}

TEST(PolicyEnvironment, WhatAFileSetsIsFixedButJudgedByTheOthers) {
  const Policy policy = policy_of({{"a", "[env.set]\nPROXY = \"p\"\n"}});
  EXPECT_THAT(seen(policy, {}, {"PROXY=mine"}), UnorderedElementsAre("PROXY=p"));
  Asks asks;
  asks.request.env = {{"PROXY", "p"}};
  EXPECT_EQ(refusal(evaluate_all(policy, asks)), "");
  asks.request.env = {{"PROXY", "other"}};
  EXPECT_THAT(refusal(evaluate_all(policy, asks)), HasSubstr("PROXY has another value in a:2"));
  EXPECT_THAT(refusal(evaluate_all(policy_of({{"a", "network = \"none\"\n"},
                                              {"b", "[env.set]\nLD_PRELOAD = \"x\"\n"}}),
                                   {})),
              HasSubstr("b:2: the variable LD_PRELOAD"));
}

// C59–C61.
TEST(PolicyEnvironment, AManifestAddsAndNeverOverrides) {
  Asks asks;
  asks.bundle = "/srv/bundle";
  asks.manifest = manifest_with("{HOME = \"/m\", SET = \"m\", NEW = \"m\"}");
  asks.request.env = {{"SET", "request"}};
  EXPECT_THAT(seen({}, asks, {"HOME=/h"}),
              UnorderedElementsAre("HOME=/h", "SET=request", "NEW=m", "MCP_HOME=/home/me/.mcp",
                                   "MCP_BUNDLE_DIR=/srv/bundle"));
}

TEST(PolicyEnvironment, AManifestGetsNothingDangerousWithoutAPolicyThatGrantsIt) {
  Asks asks;
  asks.bundle = "/srv/bundle";
  asks.manifest = manifest_with("[\"LD_PRELOAD=./evil.so\"]");
  EXPECT_THAT(refusal(evaluate_all({}, asks)), HasSubstr("m.toml:5: the variable LD_PRELOAD"));
  EXPECT_THAT(refusal(evaluate_all(policy_of({{"a", ""}}), asks)),
              HasSubstr("allow_dangerous of a"));
  EXPECT_EQ(refusal(evaluate_all(policy_of({{"a", "[env]\nallow_dangerous = [\"LD_PRELOAD\"]\n"}}),
                                 asks)),
            "");
}

}  // namespace
}  // namespace cordon::policy
