// Servers that do what they should not: an error for their client, and nobody else affected.
#include <csignal>

#include "mcp/bridge/test_support.h"

namespace cordon::mcp {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using BridgeBadServer = BridgeTest;

TEST_F(BridgeBadServer, DeathAnswersWhatIsPendingAndEndsTheSessionAlone) {
  serve(old_server([](Self& self, const Message& message) {
    if (message.method() == "die") self.die(SIGSEGV);
  }));
  const Headers headers = session();
  const Headers other = session();
  const auto waiting = post(request(1, "never"), headers);
  const auto fatal = post(request(2, "die"), headers);
  EXPECT_THAT(finished(waiting)->last(), AllOf(HasSubstr(R"("id":1)"), HasSubstr("-32603")));
  EXPECT_THAT(finished(fatal)->last(), AllOf(HasSubstr(R"("id":2)"), HasSubstr("-32603")));
  EXPECT_EQ(finished(post(request(3, "ping"), headers))->status, 404);
  EXPECT_EQ(finished(post(request(3, "ping"), other))->status, 200);
  EXPECT_EQ(bridge_->stats().child_deaths, 1U);
  EXPECT_EQ(bridge_->stats().sessions, 1U);
}

TEST_F(BridgeBadServer, ThatExitsAtOnceIsAnErrorOfInitialize) {
  serve(Program().err("no licence\n").exit(3));
  const auto reply = finished(post(begin()));
  EXPECT_EQ(reply->status, 502);
  EXPECT_THAT(reply->body, AllOf(HasSubstr(R"("id":0)"), HasSubstr("-32603")));
  EXPECT_EQ(reply->header("mcp-session-id"), "");
  EXPECT_THAT(log_, Contains("no licence"));
  EXPECT_EQ(bridge_->stats().sessions, 0U);
}

TEST_F(BridgeBadServer, ThatCannotBeStartedIsAnErrorOfInitialize) {
  serve(Program().fail_start(ENOENT));
  const auto reply = finished(post(begin()));
  EXPECT_EQ(reply->status, 502);
  EXPECT_THAT(reply->body, HasSubstr("could not be started"));
  EXPECT_EQ(bridge_->stats().children, 0U);
}

TEST_F(BridgeBadServer, ThatHangsInInitializeIsGivenUp) {
  limits_.start_timeout = milliseconds(20);
  limits_.grace = milliseconds(20);
  serve(Program().ignore(SIGTERM).hang());
  const auto reply = finished(post(begin()));
  EXPECT_EQ(reply->status, 504);
  EXPECT_TRUE(run_until([&] { return bridge_->stats().children == 0; }));
  EXPECT_EQ(running(), 0U);
}

TEST_F(BridgeBadServer, GarbageIsLoggedAndNotPassedOn) {
  serve(old_server([](Self& self, const Message& message) {
    say(self, "Starting…");
    say(self, R"({"jsonrpc":"1.0"})");
    say(self, std::string(200, '['));
    self.out(std::string("\xff\xfe\n", 3));
    self.err("a word\n");
    if (message.asks()) say(self, make_response(*message.id(), "{}"));
  }));
  const auto reply = finished(post(request(1, "x"), session()));
  EXPECT_EQ(reply->body, make_response(Id::number(1), "{}"));
  EXPECT_THAT(log_, Contains(AllOf(HasSubstr("not a message"), HasSubstr("Starting…"))));
  EXPECT_THAT(log_, Contains("a word"));
  EXPECT_EQ(log_.size(), 5U);
}

TEST_F(BridgeBadServer, AnswersThatNobodyAskedForAreDropped) {
  serve(old_server([](Self& self, const Message& message) {
    if (!message.asks()) return;
    say(self, make_response(Id::number(999), "{}"));
    say(self, make_response(Id::text("x"), "{}"));
    say(self, make_error(std::nullopt, kParseError, "what?"));
    say(self, make_response(*message.id(), R"({"n":1})"));
    say(self, make_response(*message.id(), R"({"n":2})"));
  }));
  const Headers headers = session();
  EXPECT_THAT(finished(post(request(1, "x"), headers))->body, HasSubstr(R"({"n":1})"));
  EXPECT_THAT(finished(post(request(2, "x"), headers))->body, HasSubstr(R"("id":2)"));
}

TEST_F(BridgeBadServer, ThatReusesTheIdOfItsOwnRequestIsTold) {
  std::vector<std::string> told;
  serve(old_server([&](Self& self, const Message& message) {
    if (message.answers()) told.push_back(message.text());
    if (message.method() != "tools/call") return;
    say(self, make_request(Id::number(7), "roots/list"));
    say(self, make_request(Id::number(7), "roots/list"));
  }));
  const auto reply = post(request(1, "tools/call"), session());
  EXPECT_TRUE(run_until([&] { return !told.empty(); }));
  EXPECT_THAT(told, ElementsAre(AllOf(HasSubstr(R"("id":7)"), HasSubstr("-32600"))));
  EXPECT_EQ(reply->messages().size(), 1U);
}

TEST_F(BridgeBadServer, ALineLongerThanAMessageIsNoise) {
  limits_.server.json.max_bytes = 10'000;
  serve(old_server([](Self& self, const Message& message) {
    if (!message.asks()) return;
    say(self, make_response(*message.id(), R"({"x":")" + std::string(50'000, 'x') + "\"}"));
    say(self, make_response(*message.id(), "{}"));
  }));
  const auto reply = finished(post(request(1, "x"), session()));
  EXPECT_EQ(reply->body, make_response(Id::number(1), "{}"));
  EXPECT_THAT(log_, ElementsAre(HasSubstr("longer than a message may be")));
}

TEST_F(BridgeBadServer, AFloodOfNoiseFillsNoLogAndStopsNobody) {
  limits_.grace = milliseconds(20);
  serve(old_server([](Self& self, const Message& message) {
    if (message.method() == "flood") self.flood();
  }));
  const Headers headers = session();
  const Headers other = session();
  (void)post(request(1, "flood"), headers);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(finished(post(request(i, "ping"), other))->status, 200);
  }
  EXPECT_LE(log_.size(), 101U);
  EXPECT_EQ(finished(ask({.verb = Verb::remove, .headers = headers}))->status, 204);
  EXPECT_TRUE(run_until([&] { return bridge_->stats().children == 1; }));
}

TEST_F(BridgeBadServer, ThatDoesNotReadIsNotWaitedFor) {
  limits_.pending_bytes = 100'000;
  limits_.client.json.max_bytes = 1'000'000;
  serve(Program()
            .read_line([](Self& self, std::string_view line) {
              say(self, make_response(*parse_one(line)->id(), greeting()));
            })
            .hang());
  const Headers headers = session();
  const std::string much = R"({"x":")" + std::string(200'000, 'x') + "\"}";
  const auto first = post(request(1, "x", much), headers);
  const auto second = finished(post(request(2, "x", "{}"), headers));
  EXPECT_EQ(second->status, 503);
  EXPECT_FALSE(first->over);
}

TEST_F(BridgeBadServer, ThatNeverAnswersIsGivenUpAndTold) {
  limits_.request_timeout = milliseconds(20);
  limits_.stream_after = milliseconds(5);
  bool cancelled = false;
  serve(old_server([&](Self&, const Message& message) {
    if (message.method() == "notifications/cancelled") cancelled = true;
  }));
  const auto reply = finished(post(request(1, "x"), session()));
  EXPECT_THAT(reply->last(), AllOf(HasSubstr(R"("id":1)"), HasSubstr("in time")));
  EXPECT_TRUE(run_until([&] { return cancelled; }));
}

TEST_F(BridgeBadServer, ThatIgnoresEofAndSigtermIsKilled) {
  limits_.grace = milliseconds(20);
  serve(Program()
            .ignore(SIGTERM)
            .fork(Program().ignore(SIGTERM).hang())
            .each_line([](Self& self, std::string_view line) {
              const auto message = parse_one(line);
              if (message->asks()) say(self, make_response(*message->id(), greeting()));
            })
            .hang());
  (void)session();
  EXPECT_EQ(running(), 2U);
  bool done = false;
  bridge_->shutdown([&] { done = true; });
  EXPECT_EQ(finished(post(begin()))->status, 503);
  EXPECT_TRUE(run_until([&] { return done; }));
  EXPECT_EQ(running(), 0U);
}

TEST_F(BridgeBadServer, ShutdownAnswersWhatIsPending) {
  serve(old_server());
  const Headers headers = session();
  const auto waiting = post(request(1, "never"), headers);
  const auto stream = get(headers);
  bool done = false;
  bridge_->shutdown([&] { done = true; });
  EXPECT_THAT(finished(waiting)->last(), HasSubstr("shutting down"));
  EXPECT_TRUE(stream->over);
  EXPECT_TRUE(run_until([&] { return done; }));
}

TEST_F(BridgeBadServer, TheDestructorLeavesNothingRunning) {
  serve(old_server(), {.spare = 2});
  bridge_->warm_up();
  (void)session();
  settle();
  bridge_.reset();
  manager_.advance(milliseconds(1));
  EXPECT_EQ(running(), 0U);
}

}  // namespace
}  // namespace cordon::mcp
