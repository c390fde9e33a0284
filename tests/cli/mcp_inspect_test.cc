// What `cordon mcp inspect` says about servers, good ones and others.
#include <boost/json.hpp>

#include "fixture.h"
#include "mcp_server_script.h"

namespace cordon::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class McpInspect : public CliTest {
 protected:
  static Ended inspect(std::vector<std::string> options,
                       const std::string& script = kServerScript) {
    std::vector<std::string> all = {"mcp", "inspect"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", "sh", "-c", script});
    return cordon(all);
  }
};

TEST_F(McpInspect, ListsAllPagesOfWhatThereIs) {
  const Ended ended = inspect({});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("server: shell 1, protocol 2025-06-18\n"),
                               HasSubstr("\nTOOL "), HasSubstr("\nread\n"), HasSubstr("\nfail\n"),
                               HasSubstr("text [times]  Writes\n"), HasSubstr("\nfile:///a  a"),
                               HasSubstr("\ngreet   who")));
}

TEST_F(McpInspect, PrintsTheSameAsJson) {
  const Ended ended = inspect({"--json"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto seen = parse(ended.out).as_object();
  EXPECT_EQ(seen.at("server").at("name"), "shell");
  EXPECT_EQ(seen.at("tools").as_array().size(), 3U);
  EXPECT_EQ(seen.at("tools").at(2).at("name"), "write");
  EXPECT_EQ(seen.at("prompts").as_array().size(), 1U);
  EXPECT_TRUE(seen.at("error").is_null());
  EXPECT_TRUE(seen.at("denials").is_array());
}

TEST_F(McpInspect, CallsAToolWithArgumentsOfItsTypes) {
  const Ended ended = inspect({"--call", "write", "--arg", "text=5", "--arg", "times=5"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(R"(got {"text":"5","times":5})"));
  EXPECT_THAT(inspect({"--call", "write", "--args", R"({"a":[1]})"}).out,
              HasSubstr(R"(got {"a":[1]})"));
}

TEST_F(McpInspect, SaysThatAToolFailed) {
  const Ended ended = inspect({"--call", "fail"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out, "it failed\n");
}

TEST_F(McpInspect, KeepsToThePolicyForTools) {
  const Ended ended = inspect({"--deny-tool", "write"});
  EXPECT_THAT(ended.out, AllOf(HasSubstr("read"), Not(HasSubstr("write"))));
  const Ended refused = inspect({"--deny-tool", "write", "--call", "write"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("the tool write is denied by --deny-tool"));
}

TEST_F(McpInspect, GivesUpOnAServerThatHangs) {
  const Ended ended =
      inspect({"--wait", "300ms", "--grace", "50ms"},
              "echo Listening; echo trouble >&2; trap '' TERM; while :; do sleep 1; done");
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, AllOf(HasSubstr("did not answer initialize within 300 ms"),
                               HasSubstr("no messages: 1, the first: Listening"),
                               HasSubstr("its stderr ends so:\n  trouble\n")));
}

TEST_F(McpInspect, SaysHowAServerEndedThatDidNotAnswer) {
  const Ended ended = inspect({}, "echo no such module >&2; exit 3");
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("ended before it answered"), HasSubstr("exited with 3"),
                               HasSubstr("  no such module\n")));
}

TEST_F(McpInspect, SurvivesAFlood) {
  const Ended ended = inspect({"--wait", "300ms", "--grace", "50ms"}, "yes");
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("did not answer"));
}

TEST_F(McpInspect, SaysWhatTheServerWasRefused) {
  const std::string secret = file("secret", "canary");
  const Ended ended = inspect({}, "cat " + secret + "; " + kServerScript);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("read " + secret + ": allow by --read " + secret));
}

TEST_F(McpInspect, WhatCannotBeStartedHasTheStatusOfARun) {
  EXPECT_EQ(cordon({"mcp", "inspect", "--", "no-such-program"}).status, 127);
}

TEST_F(McpInspect, RefusesWhatItCannotDo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--arg", "a=b"}, "need --call"},
      {{"--call", "a", "--arg", "b"}, "KEY=VALUE"},
      {{"--call", "a", "--arg", "b=1", "--arg", "b=2"}, "twice"},
      {{"--call", "a", "--args", "[]"}, "no JSON object"},
      {{"--call", "a", "--arg", "a=b", "--args", "{}"}, "leave one out"},
      {{"--wait", "0s"}, "--wait"},
      {{"--log", "x"}, "--log"},
      {{"--pool", "only"}, "--pool"},
      {{"--transport", "http"}, "--transport"},
  };
  for (const auto& [options, expected] : cases) {
    const Ended ended = inspect(options, "true");
    EXPECT_EQ(ended.status, 125) << expected;
    EXPECT_THAT(ended.err, HasSubstr(expected));
  }
}

}  // namespace
}  // namespace cordon::cli
