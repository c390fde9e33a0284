// Sessions of earlier revisions on a server that speaks 2026-07-28 and nothing else.
#include "mcp/bridge/test_support.h"

namespace cordon::mcp {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// Refuses what has not the _meta of its era.
Program modern_only(Respond respond = {}) {
  return Program().each_line([respond = std::move(respond)](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    if (!message || !message->asks()) return;
    const auto meta = member(message->params(), "_meta");
    if (!meta || !member(*meta, "io.modelcontextprotocol/protocolVersion") ||
        !member(*meta, "io.modelcontextprotocol/clientCapabilities")) {
      return say(self, make_error(message->id(), kInvalidParams, "_meta lacks a version"));
    }
    if (message->method() == "server/discover") {
      return say(
          self, make_response(*message->id(),
                              R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},)"
                              R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new"}}})"));
    }
    if (respond) respond(self, *message);
  });
}

using BridgeModernServer = BridgeTest;

TEST_F(BridgeModernServer, IsGreetedForByTheBridge) {
  serve(modern_only());
  const auto reply = finished(post(begin("2025-06-18")));
  EXPECT_EQ(reply->status, 200);
  EXPECT_NE(reply->header("mcp-session-id"), "");
  EXPECT_THAT(reply->body,
              AllOf(HasSubstr(R"("protocolVersion":"2025-06-18")"),
                    HasSubstr(R"("serverInfo":{"name":"new"})"), HasSubstr(R"("id":0)")));
}

TEST_F(BridgeModernServer, GetsRequestsWithTheMetaOfItsEra) {
  serve(modern_only([](Self& self, const Message& message) {
    if (message.method() == "x") say(self, make_response(*message.id(), message.params()));
  }));
  const Headers headers = session();
  EXPECT_EQ(finished(post(request(1, "ping"), headers))->body, make_response(Id::number(1), "{}"));
  (void)finished(post(request(2, "logging/setLevel", R"({"level":"error"})"), headers));
  EXPECT_THAT(finished(post(request(3, "x", R"({"a":1})"), headers))->body,
              AllOf(HasSubstr(R"("id":3)"), HasSubstr(R"("a":1)"),
                    HasSubstr(R"("io.modelcontextprotocol/clientInfo":{"name":"c")"),
                    HasSubstr(R"("io.modelcontextprotocol/logLevel":"error")")));
}

TEST_F(BridgeModernServer, WhatItAsksForIsAskedOfTheClient) {
  serve(modern_only([](Self& self, const Message& message) {
    if (message.method() != "tools/call") return;
    const auto given = member(message.params(), "inputResponses");
    if (!given) {
      return say(self,
                 make_response(*message.id(),
                               R"({"resultType":"input_required","requestState":"s1",)"
                               R"("inputRequests":{"who":{"method":"elicitation/create",)"
                               R"("params":{"message":"?"}},"roots":{"method":"roots/list"}}})"));
    }
    say(self, make_response(*message.id(),
                            R"({"given":)" + std::string(*given) + R"(,"state":)" +
                                std::string(*member(message.params(), "requestState")) + "}"));
  }));
  const Headers headers = session();
  const auto reply = post(request(9, "tools/call", R"({"name":"t"})"), headers);
  ASSERT_TRUE(run_until([&] { return reply->messages().size() == 2; }));
  for (const std::string& text : reply->messages()) {
    const auto asked = parse_one(text);
    ASSERT_TRUE(asked->asks());
    const std::string answer = asked->method() == "roots/list" ? R"({"roots":[]})" : R"({"a":1})";
    EXPECT_EQ(finished(post(make_response(*asked->id(), answer), headers))->status, 202);
  }
  EXPECT_THAT(finished(reply)->last(),
              AllOf(HasSubstr(R"("id":9)"), HasSubstr(R"("who":{"a":1})"),
                    HasSubstr(R"("roots":{"roots":[]})"), HasSubstr(R"("state":"s1")")));
}

TEST_F(BridgeModernServer, AClientThatRefusesGetsAnErrorForItsRequest) {
  serve(modern_only([](Self& self, const Message& message) {
    if (message.method() != "tools/call") return;
    say(self,
        make_response(*message.id(), R"({"resultType":"input_required","inputRequests":)"
                                     R"({"who":{"method":"elicitation/create","params":{}}}})"));
  }));
  const Headers headers = session();
  const auto reply = post(request(9, "tools/call"), headers);
  ASSERT_TRUE(run_until([&] { return reply->messages().size() == 1; }));
  const auto asked = parse_one(reply->last());
  (void)finished(post(make_error(asked->id(), kInternalError, "no"), headers));
  EXPECT_THAT(finished(reply)->last(), AllOf(HasSubstr(R"("id":9)"), HasSubstr("-32603")));
}

TEST_F(BridgeModernServer, ChangesComeOnTheStandingStream) {
  std::vector<std::string> filters;
  serve(modern_only([&](Self& self, const Message& message) {
    if (message.method() != "subscriptions/listen") return;
    filters.emplace_back(*member(message.params(), "notifications"));
    const std::string meta =
        R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + message.id()->json() + "}";
    say(self, make_notification("notifications/subscriptions/acknowledged",
                                meta + R"(,"notifications":{}})"));
    say(self, make_notification("notifications/resources/updated", meta + R"(,"uri":"u"})"));
  }));
  const Headers headers = session();
  const auto stream = get(headers);
  (void)finished(post(request(1, "resources/subscribe", R"({"uri":"u"})"), headers));
  EXPECT_TRUE(run_until([&] { return stream->messages().size() == 2; }));
  EXPECT_EQ(stream->last(), make_notification("notifications/resources/updated", R"({"uri":"u"})"));
  EXPECT_THAT(filters, Contains(HasSubstr(R"("resourceSubscriptions":["u"])")));
}

TEST_F(BridgeModernServer, AServerThatRefusesForAnotherReasonIsHeard) {
  serve(Program().each_line([](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    if (message->asks()) say(self, make_error(message->id(), -32000, "no licence"));
  }));
  const auto reply = finished(post(begin()));
  EXPECT_THAT(reply->body, AllOf(HasSubstr("no licence"), HasSubstr(R"("id":0)")));
  EXPECT_EQ(reply->header("mcp-session-id"), "");
  EXPECT_EQ(bridge_->stats().sessions, 0U);
}

}  // namespace
}  // namespace cordon::mcp
