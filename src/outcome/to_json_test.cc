#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

#include "cordon/outcome.h"

namespace cordon {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

boost::json::object object_of(const Outcome& outcome) {
  return boost::json::parse(to_json(outcome)).as_object();
}

std::vector<std::string> names_of(const boost::json::object& object) {
  std::vector<std::string> names;
  for (const auto& member : object) names.emplace_back(member.key());
  return names;
}

Outcome timed_out() {
  Outcome o;
  o.id = 7;
  o.verdict = Verdict::timeout;
  o.termination = {Termination::Type::timeout, 5, 15, milliseconds(101)};
  o.timed_out = true;
  o.wall = microseconds(100512);
  o.usage.cpu_user = milliseconds(3);
  o.limit = LimitHit{"timeout", 100, 101, "supervisor's deadline"};
  o.hint = "raise --timeout if the program needs more time";
  o.enforcement.timeout = {Guarantee::Level::enforced, "supervisor", ""};
  o.backend = "posix";
  return o;
}

TEST(OutcomeJson, HasTheDocumentedNamesInTheirOrder) {
  const auto object = object_of(timed_out());
  EXPECT_THAT(names_of(object),
              testing::ElementsAre(
                  "id", "verdict", "termination", "exit_code", "timed_out", "memory_exceeded",
                  "wall_ms", "cpu_user_ms", "cpu_system_ms", "memory_peak_bytes",
                  "memory_anonymous_bytes", "memory_cache_bytes", "processes_peak", "output_bytes",
                  "output_truncated", "limit", "limits_hit", "denials", "denials_omitted", "hint",
                  "enforcement", "backend", "launch", "launch_note", "error"));
  EXPECT_THAT(names_of(object.at("termination").as_object()),
              testing::ElementsAre("type", "code", "signal"));
  EXPECT_THAT(names_of(object.at("limit").as_object()),
              testing::ElementsAre("name", "limit", "observed", "evidence"));
  EXPECT_THAT(names_of(object.at("enforcement").as_object()),
              testing::ElementsAre("memory", "cpu", "processes", "filesystem", "network",
                                   "syscalls", "capabilities", "timeout"));
}

TEST(OutcomeJson, SaysHowTheRunCameToItsSandbox) {
  Outcome o = timed_out();
  EXPECT_EQ(object_of(o).at("launch"), "cold");
  EXPECT_TRUE(object_of(o).at("launch_note").is_null());
  o.launch_note = "none was ready";
  EXPECT_EQ(object_of(o).at("launch_note"), "none was ready");
  o.launch = Launch::warm;
  EXPECT_EQ(object_of(o).at("launch"), "warm");
  o.launch = Launch::reused;
  EXPECT_EQ(object_of(o).at("launch"), "reused");
}

TEST(OutcomeJson, IsOneLine) {
  Outcome o = timed_out();
  o.hint = "first\nsecond";
  EXPECT_EQ(to_json(o).find('\n'), std::string::npos);
}

TEST(OutcomeJson, IdIsAStringSoThatNoReaderRoundsIt) {
  Outcome o = timed_out();
  o.id = 18446744073709551615U;
  EXPECT_EQ(object_of(o).at("id"), "18446744073709551615");
}

TEST(OutcomeJson, TimesArePlainMilliseconds) {
  Outcome o = timed_out();
  EXPECT_THAT(to_json(o), testing::HasSubstr(R"("wall_ms":100.512,"cpu_user_ms":3,)"));
  o.wall = Duration{0};
  EXPECT_THAT(to_json(o), testing::HasSubstr(R"("wall_ms":0,)"));
  o.wall = std::chrono::minutes(5);
  EXPECT_THAT(to_json(o), testing::HasSubstr(R"("wall_ms":300000,)"));
}

TEST(OutcomeJson, WhatIsUnknownIsNull) {
  Outcome o;
  o.verdict = Verdict::exited;
  const auto object = object_of(o);
  for (const char* name :
       {"exit_code", "cpu_user_ms", "cpu_system_ms", "memory_peak_bytes", "memory_anonymous_bytes",
        "memory_cache_bytes", "processes_peak", "limit", "hint", "error"}) {
    EXPECT_TRUE(object.at(name).is_null()) << name;
  }
  EXPECT_TRUE(object.at("termination").at("signal").is_null());
  EXPECT_TRUE(object.at("limits_hit").as_array().empty());
  EXPECT_TRUE(object.at("denials").as_array().empty());
}

TEST(OutcomeJson, SaysHowEveryGuaranteeIsKept) {
  const Outcome o = timed_out();
  const auto object = object_of(o);
  const auto& enforcement = object.at("enforcement").as_object();
  EXPECT_EQ(enforcement.at("timeout").as_string(), describe(o.enforcement.timeout));
  EXPECT_EQ(enforcement.at("memory").as_string(), describe(o.enforcement.memory));
}

TEST(OutcomeJson, TellsWhyAProgramDidNotStart) {
  Outcome o;
  o.error = Error{ErrorCode::not_found, "exec", 2, "no such program"};
  const auto object = object_of(o);
  const auto& error = object.at("error").as_object();
  EXPECT_THAT(names_of(error), testing::ElementsAre("code", "stage", "os_error", "message"));
  EXPECT_EQ(error.at("code"), "not_found");
  EXPECT_EQ(error.at("stage"), "exec");
  EXPECT_EQ(error.at("os_error"), 2);
  EXPECT_EQ(error.at("message"), "no such program");
}

TEST(OutcomeJson, ListsTouchedLimitsAndRefusals) {
  Outcome o = timed_out();
  o.limits_hit = {{"processes", 4, std::nullopt, "fork failed"}, {"memory", 1, 2, ""}};
  o.denials = {{.what = "/etc/shadow", .access = "read", .allow = "--read /etc/shadow", .count = 2},
               {.kind = Denial::Kind::system_call,
                .what = "mount",
                .access = "call",
                .reason = "never allowed"}};
  o.denials_omitted = 7;
  const auto object = object_of(o);
  const auto& hits = object.at("limits_hit").as_array();
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0].at("name"), "processes");
  EXPECT_TRUE(hits[0].at("observed").is_null());
  EXPECT_EQ(hits[1].at("observed"), 2);
  EXPECT_EQ(boost::json::serialize(object.at("denials").at(0)),
            R"({"kind":"path","what":"/etc/shadow","access":"read",)"
            R"("allow":"--read /etc/shadow","reason":null,"count":2})");
  EXPECT_TRUE(object.at("denials").at(1).at("allow").is_null());
  EXPECT_EQ(object.at("denials").at(1).at("reason"), "never allowed");
  EXPECT_EQ(object.at("denials_omitted"), 7);
}

TEST(OutcomeJson, StaysValidWhenANameIsNotUtf8) {
  Outcome o;
  o.error = Error{ErrorCode::not_found, "exec", 2, "no program 'a\xFF' here"};
  const auto object = object_of(o);
  EXPECT_EQ(object.at("error").at("message"), "no program 'a\xEF\xBF\xBD' here");
}

}  // namespace
}  // namespace cordon
