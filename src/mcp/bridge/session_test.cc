// Sessions of 2024-11-05 … 2025-11-25.
#include "mcp/bridge/test_support.h"

namespace cordon::mcp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using BridgeSession = BridgeTest;

TEST_F(BridgeSession, BeginsWithAnIdOfItsOwnAndAChildOfItsOwn) {
  serve(old_server());
  const auto one = finished(post(begin()));
  const auto other = finished(post(begin()));
  EXPECT_EQ(one->status, 200);
  EXPECT_EQ(one->body, make_response(Id::number(0), greeting()));
  EXPECT_EQ(one->header("mcp-session-id").size(), 32U);
  EXPECT_NE(one->header("mcp-session-id"), other->header("mcp-session-id"));
  EXPECT_EQ(bridge_->stats().sessions, 2U);
  EXPECT_EQ(running(), 2U);
}

TEST_F(BridgeSession, AnswersByJsonWhatIsAnsweredAtOnce) {
  serve(old_server());
  const Headers headers = session();
  const auto reply = finished(post(R"({"jsonrpc":"2.0","id":"a","method":"ping"})", headers));
  EXPECT_FALSE(reply->streams);
  EXPECT_EQ(reply->body, R"({"jsonrpc":"2.0","id":"a","result":{}})");
}

// To a server a line is a message.
TEST_F(BridgeSession, LineEndsInsideAMessageMakeNoOtherMessageOfIt) {
  std::vector<std::string> heard;
  serve(old_server([&](Self&, const Message& message) { heard.push_back(message.method()); }));
  const Headers headers = session();
  const auto reply =
      finished(post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\n"
                    R"({"jsonrpc":"2.0","method":"injected","params":{}})"
                    "\r\n}}",
                    headers));
  EXPECT_EQ(reply->body, make_response(Id::number(1), "{}"));
  settle();
  EXPECT_THAT(heard, ::testing::IsEmpty());
  EXPECT_THAT(log_, ::testing::IsEmpty());
}

TEST_F(BridgeSession, AServerThatAsksWithoutEndIsRefused) {
  limits_.max_requests = 5;
  int refused = 0;
  serve(old_server([&](Self& self, const Message& message) {
    if (message.kind() == Message::Kind::error) ++refused;
    if (message.method() != "flood") return;
    for (int i = 0; i < 20; ++i) {
      say(self, make_request(Id::number(1000 + i), "sampling/createMessage", "{}"));
    }
  }));
  const Headers headers = session();
  const auto reply = post(request(1, "flood"), headers);
  EXPECT_TRUE(run_until([&] { return refused == 15; })) << refused;
}

TEST_F(BridgeSession, ASessionThatIsBeingBegunIsNotIdle) {
  limits_.idle = milliseconds(1);
  serve(Program().sleep(milliseconds(200)).each_line([](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    if (message && message->method() == "initialize") {
      say(self, make_response(*message->id(), greeting()));
    }
  }));
  EXPECT_EQ(finished(post(begin()))->status, 200);
}

TEST_F(BridgeSession, AnswersByAStreamWhoTakesNothingElse) {
  serve(old_server());
  const Headers headers = session();
  const auto reply = finished(ask(
      {.verb = Verb::post, .headers = headers, .takes_stream = true, .body = request(1, "ping")}));
  EXPECT_TRUE(reply->streams);
  EXPECT_THAT(reply->messages(), ElementsAre(make_response(Id::number(1), "{}")));
}

TEST_F(BridgeSession, TakesNotificationsWith202) {
  std::vector<std::string> heard;
  serve(old_server([&](Self&, const Message& message) { heard.push_back(message.method()); }));
  const Headers headers = session();
  const auto reply = finished(post(make_notification("notifications/initialized"), headers));
  EXPECT_EQ(reply->status, 202);
  EXPECT_TRUE(reply->body.empty());
  settle();
  EXPECT_THAT(heard, ElementsAre("notifications/initialized"));
}

TEST_F(BridgeSession, RefusesWhatHasNoSession) {
  serve(old_server());
  const Headers headers = session();
  EXPECT_EQ(finished(post(request(1, "ping")))->status, 400);
  EXPECT_EQ(finished(post(request(1, "ping"), {{"mcp-session-id", "unknown"}}))->status, 404);
  EXPECT_EQ(finished(get({}))->status, 400);
  Headers bad = headers;
  bad[1].second = "1999-01-01";
  EXPECT_EQ(finished(post(request(1, "ping"), bad))->status, 400);
  EXPECT_EQ(bridge_->stats().refused, 4U);
}

TEST_F(BridgeSession, DeleteEndsItAndItsChild) {
  serve(old_server());
  const Headers headers = session();
  EXPECT_EQ(finished(ask({.verb = Verb::remove, .headers = headers}))->status, 204);
  EXPECT_EQ(finished(post(request(1, "ping"), headers))->status, 404);
  EXPECT_TRUE(run_until([&] { return bridge_->stats().children == 0; }));
  EXPECT_EQ(running(), 0U);
}

TEST_F(BridgeSession, EndsWhenNobodyUsesIt) {
  limits_.idle = milliseconds(50);
  serve(old_server());
  const Headers headers = session();
  EXPECT_TRUE(run_until([&] { return bridge_->stats().sessions == 0; }));
  EXPECT_TRUE(run_until([&] { return bridge_->stats().children == 0; }));
  EXPECT_EQ(finished(post(request(1, "ping"), headers))->status, 404);
}

TEST_F(BridgeSession, ChildrenAreBackToTheSpareCountAfterTheIdleTime) {
  limits_.idle = milliseconds(50);
  serve(old_server(), {.spare = 2});
  bridge_->warm_up();
  for (int i = 0; i < 33; ++i) (void)session();
  EXPECT_TRUE(run_until([&] { return bridge_->stats().sessions == 0; }));
  EXPECT_TRUE(run_until([&] { return bridge_->stats().children == 2; }));
  EXPECT_EQ(bridge_->stats().spare, 2U);
  EXPECT_EQ(running(), 2U);
}

TEST_F(BridgeSession, NoMoreThanAllowedBegin) {
  limits_.max_sessions = 2;
  serve(old_server());
  (void)session();
  const Headers headers = session();
  const auto refused = finished(post(begin()));
  EXPECT_EQ(refused->status, 503);
  EXPECT_THAT(refused->body, HasSubstr("too many sessions"));
  (void)ask({.verb = Verb::remove, .headers = headers});
  EXPECT_EQ(finished(post(begin()))->status, 200);
}

TEST_F(BridgeSession, AThousandAtOnceEachHearsItsOwn) {
  serve(old_server([](Self& self, const Message& message) {
    say(self, make_response(*message.id(), R"({"pid":)" + std::to_string(self.pid()) + "}"));
  }));
  std::vector<std::shared_ptr<FakeReply>> begun;
  for (int i = 0; i < 1000; ++i) begun.push_back(post(begin()));
  std::vector<std::shared_ptr<FakeReply>> replies;
  for (const auto& reply : begun) {
    (void)finished(reply);
    replies.push_back(
        post(request(7, "who"), {{"mcp-session-id", reply->header("mcp-session-id")}}));
  }
  std::set<std::string> seen;
  for (const auto& reply : replies) seen.insert(finished(reply)->body);
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(bridge_->stats().sessions, 1000U);
  bool done = false;
  bridge_->shutdown([&] { done = true; });
  EXPECT_TRUE(run_until([&] { return done; }));
  EXPECT_EQ(running(), 0U);
}

TEST_F(BridgeSession, AnIdInFlightIsNotUsedTwice) {
  serve(old_server());
  const Headers headers = session();
  const auto first = post(request(5, "never"), headers);
  const auto second = finished(post(request(5, "ping"), headers));
  EXPECT_THAT(second->body, HasSubstr("in flight"));
  EXPECT_FALSE(first->over);
  EXPECT_EQ(finished(post(request(6, "ping"), headers))->body, make_response(Id::number(6), "{}"));
}

TEST_F(BridgeSession, BatchesOnlyWhereTheRevisionHasThem) {
  serve(old_server({}, "2025-03-26"));
  const auto begun = finished(post(begin("2025-03-26")));
  const Headers headers{{"mcp-session-id", begun->header("mcp-session-id")}};
  const auto reply =
      finished(post("[" + request(1, "ping") + "," + request(2, "ping") + ",7]", headers));
  EXPECT_THAT(reply->body, AllOf(HasSubstr(R"("id":1)"), HasSubstr(R"("id":2)"),
                                 HasSubstr("-32600"), ::testing::StartsWith("[")));
}

TEST_F(BridgeSession, RefusesBatchesElsewhere) {
  serve(old_server());
  EXPECT_EQ(finished(post("[" + request(1, "ping") + "]", session()))->status, 400);
}

TEST_F(BridgeSession, RefusesWhatIsNoMessage) {
  serve(old_server());
  const Headers headers = session();
  for (const std::string body :
       {"", "{", "7", "{}", R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})"}) {
    const auto reply = finished(post(body, headers));
    EXPECT_EQ(reply->status, 400) << body;
    EXPECT_THAT(reply->body, HasSubstr(R"("error")"));
  }
  std::string deep(200, '[');
  EXPECT_EQ(finished(post(deep, headers))->status, 400);
}

}  // namespace
}  // namespace cordon::mcp
