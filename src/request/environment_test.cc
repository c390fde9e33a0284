#include "request/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cordon::request {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> resolve(const Request& request, std::vector<std::string_view> host) {
  return resolve_environment(request, host);
}

Request passing(std::vector<std::string> patterns, std::vector<EnvVar> set = {}) {
  Request request;
  request.env_pass = std::move(patterns);
  request.env = std::move(set);
  return request;
}

TEST(GlobTest, MatchesWholeNames) {
  const std::pair<const char*, const char*> matching[] = {
      {"PATH", "PATH"}, {"*", ""},           {"*", "ANYTHING"}, {"LC_*", "LC_ALL"},
      {"LC_*", "LC_"},  {"*_URL", "DB_URL"}, {"A*C", "ABC"},    {"A*C", "AC"},
      {"A*C", "ABCBC"}, {"*B*", "ABC"},      {"**", "X"},       {"a*b*c", "aXbYc"},
      {"", ""},
  };
  for (const auto& [pattern, text] : matching) {
    EXPECT_TRUE(glob_matches(pattern, text)) << pattern << " ~ " << text;
  }
  const std::pair<const char*, const char*> different[] = {
      {"PATH", "PATHS"}, {"PATH", "MYPATH"}, {"PATH", "path"},    {"PATH", ""},
      {"", "X"},         {"LC_*", "LC"},     {"LC_*", "XLC_ALL"}, {"A*C", "ACB"},
      {"?", "X"},        {"[A-Z]", "X"},     {".*", "X"},
  };
  for (const auto& [pattern, text] : different) {
    EXPECT_FALSE(glob_matches(pattern, text)) << pattern << " ~ " << text;
  }
}

TEST(GlobTest, ManyStarsAreNotExponential) {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "a*";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(20000, 'a')));
}

TEST(EnvironmentTest, PassesOnlyWhatIsListed) {  // C58
  EXPECT_THAT(resolve(passing({"PATH", "LC_*"}),
                      {"PATH=/bin", "LC_ALL=C", "HOME=/root", "AWS_SECRET=x", "LC=no"}),
              UnorderedElementsAre("PATH=/bin", "LC_ALL=C"));
}

TEST(EnvironmentTest, PassesNothingByAnEmptyList) {
  EXPECT_THAT(resolve(passing({}), {"PATH=/bin", "HOME=/root"}), IsEmpty());
}

TEST(EnvironmentTest, PassesEverythingByAStar) {
  EXPECT_THAT(resolve(passing({"*"}), {"A=1", "B=2"}), UnorderedElementsAre("A=1", "B=2"));
}

TEST(EnvironmentTest, DefaultPassesNeitherLoaderSettingsNorSecrets) {  // C58
  Request request;
  EXPECT_THAT(resolve(request, {"PATH=/bin", "HOME=/h", "LANG=C", "LC_TIME=C", "TERM=dumb",
                                "LD_PRELOAD=/evil.so", "LD_LIBRARY_PATH=/evil", "LD_AUDIT=/evil.so",
                                "BASH_ENV=/evil", "ENV=/evil", "IFS=x", "PYTHONPATH=/evil",
                                "NODE_OPTIONS=--require=/evil", "GIT_SSH_COMMAND=evil",
                                "SSH_AUTH_SOCK=/agent", "AWS_SECRET_ACCESS_KEY=k", "GITHUB_TOKEN=t",
                                "DATABASE_URL=postgres://"}),
              UnorderedElementsAre("PATH=/bin", "HOME=/h", "LANG=C", "LC_TIME=C", "TERM=dumb"));
}

TEST(EnvironmentTest, WhatIsSetWinsOverWhatIsPassed) {
  EXPECT_THAT(resolve(passing({"*"}, {{"PATH", "/mine"}}), {"PATH=/theirs", "A=1"}),
              UnorderedElementsAre("PATH=/mine", "A=1"));
}

TEST(EnvironmentTest, LastSettingOfANameWins) {
  EXPECT_THAT(resolve(passing({}, {{"A", "1"}, {"B", "2"}, {"A", "3"}}), {}),
              UnorderedElementsAre("A=3", "B=2"));
}

TEST(EnvironmentTest, SetsWhatTheCallerDoesNotHave) {
  EXPECT_THAT(resolve(passing({"PATH"}, {{"EMPTY", ""}, {"X", "a=b"}}), {}),
              ElementsAre("EMPTY=", "X=a=b"));
}

TEST(EnvironmentTest, KeepsValuesAsTheyAre) {
  EXPECT_THAT(resolve(passing({"A"}), {"A=x=y \n$HOME"}), ElementsAre("A=x=y \n$HOME"));
}

TEST(EnvironmentTest, MatchesNamesNotValues) {
  EXPECT_THAT(resolve(passing({"*SECRET*"}), {"A=SECRET", "SECRET_A=1"}),
              ElementsAre("SECRET_A=1"));
}

}  // namespace
}  // namespace cordon::request
