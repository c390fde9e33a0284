#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <filesystem>

#include "audit/request_digest.h"
#include "audit/test_log.h"
#include "cordon/audit.h"

namespace cordon::audit {
namespace {

using testing::HasSubstr;

class Recorder : public LogTest {
 protected:
  [[nodiscard]] std::vector<boost::json::value> records() const {
    std::vector<boost::json::value> all;
    for (const std::string& line : lines(path("audit-00000001.jsonl"))) {
      all.push_back(boost::json::parse(line));
    }
    return all;
  }
  [[nodiscard]] static Request request() {
    Request request;
    request.program = "/bin/tool";
    request.args = {"--password", "hunter2"};
    request.env = {{"TOKEN", "s3cret"}};
    request.in = Input::bytes("stdin-secret");
    return request;
  }
};

TEST_F(Recorder, AWholeRunLeavesItsRecordsInOrder) {
  settings().policy_digest = "abc";
  auto recorder = RunRecorder::open(settings(), request());
  ASSERT_TRUE(recorder) << recorder.error().message;
  Outcome outcome;
  outcome.verdict = Verdict::memory;
  outcome.limit = LimitHit{"memory", 64, 70, "counter"};
  outcome.limits_hit = {*outcome.limit, {"processes", 5, 5, ""}};
  outcome.denials = {{.what = "/etc/shadow", .access = "read", .allow = "--read /etc/shadow"}};
  ASSERT_TRUE(recorder->started());
  ASSERT_TRUE(recorder->signalled(2));
  ASSERT_TRUE(recorder->ended(outcome));
  ASSERT_TRUE(recorder->cleaned_up("nothing is left"));
  std::vector<std::string> operations;
  for (const auto& record : records()) {
    operations.emplace_back(record.at("operation").as_string());
    EXPECT_EQ(record.at("run").as_string(), recorder->id());
    EXPECT_EQ(record.at("policy"), "abc");
    EXPECT_EQ(record.at("request").as_string(), request_digest(request()));
    EXPECT_EQ(record.at("program"), "/bin/tool");
  }
  EXPECT_THAT(operations, testing::ElementsAre("start", "signal", "limit", "limit", "denial",
                                               "exit", "cleanup"));
  EXPECT_EQ(records()[2].at("detail"), "memory: limit 64, observed 70 (counter)");
  EXPECT_EQ(records()[3].at("detail"), "processes: limit 5, observed 5");
  EXPECT_EQ(records()[4].at("detail"), "read /etc/shadow: allow by --read /etc/shadow");
  EXPECT_EQ(records()[5].at("outcome").at("verdict"), "memory");
  EXPECT_EQ(wrong(), "");
}

TEST_F(Recorder, ValuesOfVariablesArgumentsAndInputAreNotRecorded) {
  auto recorder = RunRecorder::open(settings(), request());
  ASSERT_TRUE(recorder->started());
  const std::string log = read(path("audit-00000001.jsonl")) + canonical_request(request());
  for (const char* const secret : {"hunter2", "s3cret", "stdin-secret"}) {
    EXPECT_EQ(log.find(secret), std::string::npos) << secret;
  }
  EXPECT_THAT(log, HasSubstr("TOKEN"));
}

TEST_F(Recorder, RefusedRunsArePutDownWithTheReason) {
  auto recorder = RunRecorder::open(settings(), request());
  Outcome outcome;
  outcome.error = Error{.message = "not allowed"};
  ASSERT_TRUE(recorder->refused(outcome));
  EXPECT_EQ(records()[0].at("operation"), "refused");
  EXPECT_EQ(records()[0].at("detail"), "not allowed");
}

TEST_F(Recorder, IdsDiffer) {
  const auto one = RunRecorder::open(settings(), request());
  const auto other = RunRecorder::open(settings(), request());
  EXPECT_EQ(one->id().size(), 32U);
  EXPECT_NE(one->id(), other->id());
}

TEST_F(Recorder, WithoutALogTheRunIsRefusedUnlessItMayProceed) {
  write(settings().directory, "a file in the way");
  EXPECT_FALSE(RunRecorder::open(settings(), request()));
  settings().on_failure = OnFailure::proceed;
  auto recorder = RunRecorder::open(settings(), request());
  ASSERT_TRUE(recorder);
  EXPECT_TRUE(recorder->started());
  ASSERT_NE(recorder->failure(), nullptr);
  EXPECT_THAT(recorder->failure()->message, HasSubstr("Not a directory"));
}

TEST_F(Recorder, ALogThatBreaksMeanwhileIsTold) {
  auto recorder = RunRecorder::open(settings(), request());
  ASSERT_TRUE(recorder->started());
  EXPECT_EQ(recorder->failure(), nullptr);
  std::filesystem::resize_file(path("audit-00000001.jsonl"), 10);
  EXPECT_FALSE(recorder->ended({}));
  EXPECT_NE(recorder->failure(), nullptr);
}

TEST_F(Recorder, ALogThatTheProgramMayWriteToIsRefused) {
  settings().on_failure = OnFailure::proceed;
  std::filesystem::create_symlink(top(), top() / "link");
  for (const std::string& granted : {settings().directory, top().string(), top().string() + "/",
                                     (top() / "link").string(), std::string("/"), path("below")}) {
    Request asks = request();
    asks.grants = {Grant::bind(granted, "/elsewhere", Grant::Kind::write)};
    const auto recorder = RunRecorder::open(settings(), asks);
    ASSERT_FALSE(recorder) << granted;
    EXPECT_THAT(recorder.error().message, HasSubstr("could change the audit log"));
    asks.grants = {Grant::read(granted)};
    EXPECT_TRUE(RunRecorder::open(settings(), asks)) << granted;
  }
  Request beside = request();
  beside.grants = {Grant::write(settings().directory + "-other")};
  EXPECT_TRUE(RunRecorder::open(settings(), beside));
}

}  // namespace
}  // namespace cordon::audit
