// What a policy file may look like, and what is said about one that does not.
#include <gmock/gmock.h>

#include "policy/read_json.h"
#include "policy/read_toml.h"
#include "policy/testing.h"

namespace cordon::policy {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(PolicyText, MalformedTomlIsNamedByLineAndColumn) {
  EXPECT_THAT(error_of("[limits]\nmemory = = 3\n"), StartsWith("site.toml:2:10: this is not TOML"));
  EXPECT_THAT(error_of("[limits\n"), StartsWith("site.toml:1:8: this is not TOML"));
  EXPECT_THAT(error_of("a = \"never closed\n"), StartsWith("site.toml:1:"));
  EXPECT_THAT(error_of("backends = []\nbackends = []\n"), StartsWith("site.toml:2:"));
  // Here the parser's own assumptions fail.
  EXPECT_EQ(error_of("[[[= 1 []]]]\n\"'x'''\n"),
            "site.toml: this is not TOML: its structure is broken");
}

TEST(PolicyText, WhatTheParserMustNotSeeIsRefusedBefore) {
  EXPECT_EQ(error_of("[limits]\nmemöry = 3\n"),
            "site.toml:2:4: a character beyond ASCII outside of quotes: put the text in quotes");
  EXPECT_THAT(error_of("a = \"\xff\"\n"), StartsWith("site.toml:1:6: this is not UTF-8"));
  EXPECT_THAT(error_of(std::string("a = \"\0\"\n", 8)), StartsWith("site.toml:1:6: a NUL byte"));
  EXPECT_THAT(error_of("\xef\xbb\xbf[limits]\n"), StartsWith("site.toml:1:1: a character beyond"));
  EXPECT_THAT(error_of("a = " + std::string(100'000, '[')),
              StartsWith("site.toml:1:37: lists and"));
  std::string key = "a";
  for (int i = 0; i < 100'000; ++i) key += ".a";
  EXPECT_THAT(error_of(key + " = 1\n"), HasSubstr("a key of more than 32 parts"));
  EXPECT_THAT(error_of("[" + key + "]\n"), HasSubstr("a key of more than 32 parts"));
  EXPECT_THAT(error_of(std::string(2'000'000, '#')), HasSubstr("larger than 1M"));
}

TEST(PolicyText, CharactersBeyondAsciiAreFineInStringsAndComments) {
  for (const char* const text : {"# grün → ✓\n", "[env]\nset = {A = \"grün\"}\n",
                                 "[env.set]\nA = 'grün'\n", "[env.set]\nA = '''\ngrün'''\n",
                                 "[env.set]\nA = \"\"\"\n\\\"\"\" grün \"\"\"\"\" # ö\nB = \"ü\"\n",
                                 "[env.set]\nA = \"\\\\\" # ö\n"}) {
    EXPECT_EQ(error_of(text), "no error") << text;
  }
}

TEST(PolicyText, TextsComeOutAsTheyWentIn) {
  for (const std::string text :
       {"gr\u00fcn \u2192 \U0001F600", "~", "~7e", "~c3~~b6", "a~", "~c"}) {
    const auto node = read_toml("\"" + text + "\" = '" + text + "' # " + text + "\n", "a.toml");
    ASSERT_TRUE(node) << node.error().message;
    ASSERT_EQ(node->members.size(), 1U);
    EXPECT_EQ(node->members.front().name, text);
    EXPECT_EQ(node->members.front().value.text, text);
  }
  // Where a string seems to begin, but the parser does not see one.
  EXPECT_THAT(error_of("a = [1pass\"k\u00f6\"]\n"), HasSubstr("this is not TOML"));
  EXPECT_THAT(error_of("a = [1[\"k\u00f6\"]\n"), HasSubstr("this is not TOML"));
}

TEST(PolicyText, UnknownKeysAreNamedWithTheNearestOne) {
  EXPECT_EQ(error_of("[limits]\nmemroy = \"1G\"\n"),
            "site.toml:2:1: unknown key \"memroy\" in limits: did you mean \"memory\"?");
  EXPECT_EQ(error_of("netwrok = \"none\"\n"),
            "site.toml:1:1: unknown key \"netwrok\": did you mean \"network\"?");
  EXPECT_EQ(error_of("[something]\n"), "site.toml:1:2: unknown key \"something\": remove it");
  EXPECT_THAT(error_of("[profiles.a]\ninclude = []\n"), HasSubstr("unknown key \"include\" in"));
  EXPECT_THAT(error_of("[[program]]\npath = \"/a\"\nsha265 = \"\"\n"), HasSubstr("\"sha256\"?"));
}

TEST(PolicyText, WrongTypesAreNamedWithTheRightOne) {
  EXPECT_EQ(error_of("[limits]\nmemory = true\n"),
            "site.toml:2:1: limits.memory is true or false, but has to be a size: a number of "
            "bytes, or a text like \"64M\"");
  EXPECT_THAT(error_of("limits = 3\n"),
              HasSubstr("limits is a whole number, but has to be a table"));
  EXPECT_THAT(error_of("backends = \"linux\"\n"), HasSubstr("but has to be a list of texts"));
  EXPECT_THAT(error_of("backends = [1]\n"),
              HasSubstr("site.toml:1:13: backends has a whole number"));
  EXPECT_THAT(error_of("[limits]\ntimeout = 5\n"), HasSubstr("a duration: a text like \"5m\""));
  EXPECT_THAT(error_of("[limits]\ntimeout = \"5\"\n"), HasSubstr("is not a duration"));
  EXPECT_THAT(error_of("network = 1979-05-27\n"), HasSubstr("\"none\", \"loopback\" or \"host\""));
  EXPECT_THAT(error_of("program = 1\n"), HasSubstr("write [[program]]"));
}

TEST(PolicyText, ValuesThatMakeNoSenseAreRefused) {
  EXPECT_THAT(error_of("[limits]\npids = 0\n"), HasSubstr("give at least 1"));
  EXPECT_THAT(error_of("[limits]\npids = -1\n"), HasSubstr("is negative"));
  EXPECT_THAT(error_of("[limits]\ncpu = \"a lot\"\n"), HasSubstr("is not a number"));
  EXPECT_THAT(error_of("[limits]\ncpu = \"nan\"\n"), HasSubstr("cpu"));
  EXPECT_THAT(error_of("[limits]\ntimeout = \"0s\"\n"), HasSubstr("no time at all"));
  EXPECT_THAT(error_of("allowed_programs = [\"sh\"]\n"), HasSubstr("is not an absolute path"));
  EXPECT_THAT(error_of("allowed_programs = [\"/a/../b\"]\n"), HasSubstr("is not an absolute path"));
  EXPECT_THAT(error_of("[[program]]\nsha256 = \"00\"\n"), HasSubstr("without \"path\""));
  EXPECT_THAT(error_of("[[program]]\npath = \"/a\"\nsha256 = \"00\"\n"),
              HasSubstr("64 hexadecimal"));
  EXPECT_THAT(error_of("[paths]\nread = [\"/a/*\"]\n"), HasSubstr("paths are no patterns"));
  EXPECT_THAT(error_of("[paths]\ndeny = [\"/usr/share\"]\n"), HasSubstr("cannot be denied"));
  EXPECT_THAT(error_of("backends = [\"linus\"]\n"), HasSubstr("did you mean \"linux\"?"));
  EXPECT_THAT(error_of("[env]\nallow_dangerous = [\"LD_*\"]\n"), HasSubstr("exact names"));
  EXPECT_THAT(error_of("[env.set]\n\"A B\" = \"\"\n"), HasSubstr("no name of a variable"));
  EXPECT_THAT(error_of("[audit]\non_failure = \"shrug\"\n"),
              HasSubstr("\"refuse\" or \"continue\""));
}

TEST(PolicyText, SecretsAreReadAsData) {
  const Policy policy = policy_of({{"site.toml",
                                    "[secrets.A]\nsource = \"file:/run/a\"\ndelivery = \"file\"\n"
                                    "[secrets.B]\nsource = \"env:TOKEN\"\n"
                                    "[secrets.C]\nsource = \"fd:7\"\ndelivery = \"fd\"\n"
                                    "[secrets.D]\nsource = [\"/bin/pass\", \"show\"]\n"}});
  const auto secrets = secrets_of(policy);
  ASSERT_TRUE(secrets);
  EXPECT_EQ(secrets->at("A").kind, SecretRule::Kind::file);
  EXPECT_EQ(secrets->at("A").from, "/run/a");
  EXPECT_EQ(secrets->at("A").delivery, Delivery::file);
  EXPECT_EQ(secrets->at("B").from, "TOKEN");
  EXPECT_EQ(secrets->at("B").delivery, Delivery::env);
  EXPECT_EQ(secrets->at("C").from, "7");
  EXPECT_EQ(secrets->at("D").command, (std::vector<std::string>{"/bin/pass", "show"}));
  EXPECT_EQ(secrets->at("D").place.line, 9U);
  EXPECT_THAT(error_of("[secrets.A]\n"), HasSubstr("without \"source\""));
  EXPECT_THAT(error_of("[secrets.A]\nsource = \"/run/a\"\n"), HasSubstr("\"file:PATH\""));
  EXPECT_THAT(error_of("[secrets.A]\nsource = []\n"), HasSubstr("an empty command"));
  EXPECT_THAT(error_of("[secrets.\"A-B\"]\nsource = \"fd:1\"\n"), HasSubstr("C63"));
}

TEST(PolicyText, KeysOfSrtAreUnderstoodOrRefused) {
  const Policy policy = policy_of(
      {{"site.toml",
        "[filesystem]\ndenyRead = [\"~/.ssh\"]\nallowWrite = [\"/srv\"]\ndenyWrite = [\"/srv/a\"]\n"
        "[network]\nallowedDomains = []\ndeniedDomains = [\"evil.example\"]\n"}});
  ASSERT_EQ(policy.ceilings.size(), 1U);
  const Ceiling& ceiling = policy.ceilings.front();
  EXPECT_EQ(ceiling.paths.deny_read->value.front().value, "/home/me/.ssh");
  EXPECT_EQ(ceiling.paths.write->value.front().value, "/srv");
  EXPECT_EQ(ceiling.network->value, Network::none);
  EXPECT_THAT(error_of("[network]\nallowedDomains = [\"example.org\"]\n"),
              HasSubstr("site.toml:2:1: allowedDomains: filtering by domain is not available"));
  EXPECT_THAT(error_of("[network]\ndeniedDomains = [\"example.org\"]\n"),
              HasSubstr("filtering by domain is not available"));
  EXPECT_THAT(error_of("[filesystem]\ndenyRead = [\"/a\"]\nallowRead = [\"/a/b\"]\n"),
              HasSubstr("what is denied stays denied"));
}

TEST(PolicyText, WithoutAHomeDirectoryNothingInItIsDeniedButNoneIsGrantedEither) {
  const auto homeless = [](const std::string& text) {
    const std::vector<std::string> roots = {"site.toml"};
    return assemble(roots, "", reader_of({{"site.toml", text}}), {.home = ""});
  };
  const auto denying = homeless("[paths]\ndeny = [\"~/.ssh\", \"/srv\"]\n");
  ASSERT_TRUE(denying) << denying.error().message;
  const auto& denied = denying->ceilings.front().paths.deny_read->value;
  ASSERT_EQ(denied.size(), 1U);
  EXPECT_EQ(denied.front().value, "/srv");
  const auto granting = homeless("[paths]\nread = [\"~/notes\"]\n");
  ASSERT_FALSE(granting);
  EXPECT_THAT(granting.error().message, HasSubstr("you have no home directory"));
}

TEST(PolicyText, JsonIsReadWithItsLines) {
  const std::string text =
      "{\n \"filesystem\": {\"denyRead\": [\"/srv/k\\u0065y\"]},\n \"limits\": {\"memory\": "
      "\"1G\"}\n}";
  const auto policy = try_policy({{"settings.json", text}});
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->ceilings.front().limits.memory->place.line, 3U);
  EXPECT_EQ(policy->ceilings.front().paths.deny_read->value.front().value, "/srv/key");

  const auto fails = [](const std::string& json) {
    const auto node = read_json(json, "a.json");
    return node ? "no error" : node.error().message;
  };
  EXPECT_THAT(fails("{\"a\": }"), StartsWith("a.json:1:7: this is not JSON"));
  EXPECT_THAT(fails("{\n\"a\": 1,\n\"a\": 2}"), HasSubstr("twice"));
  EXPECT_THAT(fails(std::string(100'000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(fails("{\"a\": 1} x"), HasSubstr("follows the end"));
  EXPECT_THAT(fails("\"\\"), HasSubstr("not JSON"));
  EXPECT_THAT(fails(""), HasSubstr("ends too early"));
  EXPECT_EQ(fails("{\"a\": [1, -2.5e3, true, null, \"x\", 18446744073709551615]}"), "no error");
}

}  // namespace
}  // namespace cordon::policy
