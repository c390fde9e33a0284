// Requests of 2026-07-28, on servers of both eras.
#include "mcp/bridge/test_support.h"
#include "mcp/versions.h"

namespace cordon::mcp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class BridgeStateless : public BridgeTest {
 protected:
  static std::string params(std::string_view more = {}, std::string_view capabilities = "{}",
                            std::string_view meta = {}) {
    std::string text = R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)";
    text += R"("io.modelcontextprotocol/clientCapabilities":)" + std::string(capabilities);
    text += std::string(meta) + "}";
    if (!more.empty()) text += "," + std::string(more);
    return text + "}";
  }
  static Headers headers(std::string method, std::string name = {}) {
    Headers all{{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", std::move(method)}};
    if (!name.empty()) all.emplace_back("mcp-name", std::move(name));
    return all;
  }
  [[nodiscard]] std::shared_ptr<FakeReply> send(int id, const std::string& method,
                                                std::string_view more = {}) {
    return post(request(id, method, params(more)), headers(method));
  }
  [[nodiscard]] std::shared_ptr<FakeReply> call(int id, const std::string& tool,
                                                std::string_view capabilities = "{}",
                                                std::string_view more = {}) {
    return post(request(id, "tools/call",
                        params(R"("name":")" + tool + R"(","arguments":{})" + std::string(more),
                               capabilities)),
                headers("tools/call", tool));
  }
};

// Answers server/discover; everything else is `respond`'s.
Program modern_server(Respond respond = {}) {
  return Program().each_line([respond = std::move(respond)](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    if (!message) return say(self, "unreadable: " + std::string(line));
    if (message->method() == "server/discover") {
      return say(self, make_response(*message->id(),
                                     R"({"supportedVersions":["2026-07-28"],"capabilities":{}})"));
    }
    if (message->method() == "tools/list") {
      return say(self, make_response(*message->id(), R"({"tools":[{"name":"t","inputSchema":)"
                                                     R"({"properties":{"r":{"type":"string",)"
                                                     R"("x-mcp-header":"Region"}}}}]})"));
    }
    if (respond) return respond(self, *message);
    if (message->asks()) say(self, make_error(message->id(), kMethodNotFound, "no such method"));
  });
}

TEST_F(BridgeStateless, PassesRequestsToOneChildWhoeverSendsThem) {
  serve(modern_server([](Self& self, const Message& message) {
    say(self, make_response(*message.id(), message.params()));
  }));
  const auto one = call(1, "a");
  const auto other = call(1, "b");
  EXPECT_THAT(finished(one)->body, AllOf(HasSubstr(R"("id":1)"), HasSubstr(R"("name":"a")")));
  EXPECT_THAT(finished(other)->body, AllOf(HasSubstr(R"("id":1)"), HasSubstr(R"("name":"b")")));
  EXPECT_EQ(running(), 1U);
  EXPECT_EQ(bridge_->stats().sessions, 0U);
  EXPECT_EQ(bridge_->stats().in_flight, 0U);
}

TEST_F(BridgeStateless, RefusesWhatItsHeadersDoNotSay) {
  serve(modern_server());
  const std::string list = request(1, "tools/list", params());
  const auto refused = [&](const std::string& body, Headers given) {
    const auto reply = finished(post(body, std::move(given)));
    EXPECT_EQ(reply->status, 400);
    EXPECT_THAT(reply->body, AllOf(HasSubstr("-32020"), HasSubstr(R"("id":1)")));
  };
  refused(list, headers("prompts/list"));
  refused(list, headers("TOOLS/LIST"));
  refused(list, {{"mcp-protocol-version", "2026-07-28"}});
  refused(list, {{"mcp-method", "tools/list"}});
  refused(list, {{"mcp-protocol-version", "2025-11-25"}, {"mcp-method", "tools/list"}});
  const std::string call = request(1, "tools/call", params(R"("name":"t","arguments":{})"));
  refused(call, headers("tools/call"));
  refused(call, headers("tools/call", "other"));
  refused(call, headers("tools/call", "=?base64?dA?="));
  EXPECT_EQ(running(), 0U);
}

TEST_F(BridgeStateless, RefusesWhatItsMetaDoesNotSay) {
  serve(modern_server());
  for (const std::string given :
       {"{}", R"({"_meta":{}})",
        R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})",
        R"({"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}})"}) {
    const auto reply =
        finished(post(request(1, "server/discover", given), headers("server/discover")));
    EXPECT_EQ(reply->status, 400) << given;
    EXPECT_THAT(reply->body, HasSubstr("-32602")) << given;
  }
}

TEST_F(BridgeStateless, RefusesUnknownVersionsAndNamesItsOwn) {
  serve(modern_server());
  const auto reply = finished(post(
      R"({"jsonrpc":"2.0","id":3,"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v9","io.modelcontextprotocol/clientCapabilities":{}}}})",
      {{"mcp-protocol-version", "v9"}, {"mcp-method", "x"}}));
  EXPECT_EQ(reply->status, 400);
  EXPECT_THAT(reply->body, AllOf(HasSubstr("-32022"), HasSubstr(R"("supported":["2026-07-28"])"),
                                 HasSubstr(R"("requested":"v9")")));
}

TEST_F(BridgeStateless, UnknownAndRemovedMethodsAre404) {
  serve(modern_server());
  for (const std::string method : {"initialize", "ping", "logging/setLevel", "unknown/method"}) {
    const auto reply = finished(send(4, method));
    EXPECT_EQ(reply->status, 404) << method;
    EXPECT_THAT(reply->body, AllOf(HasSubstr("-32601"), HasSubstr(R"("id":4)"))) << method;
  }
}

TEST_F(BridgeStateless, GetAndDeleteAre405) {
  serve(modern_server());
  const Headers given{{"mcp-protocol-version", "2026-07-28"}};
  EXPECT_EQ(finished(get(given))->status, 405);
  EXPECT_EQ(finished(ask({.verb = Verb::remove, .headers = given}))->status, 405);
}

TEST_F(BridgeStateless, ArgumentsThatAreInHeadersTooHaveToAgree) {
  serve(modern_server(
      [](Self& self, const Message& message) { say(self, make_response(*message.id(), "{}")); }));
  (void)finished(send(1, "tools/list"));
  const auto status = [&](std::string_view value, std::optional<std::string> header) {
    Headers given = headers("tools/call", "t");
    if (header) given.emplace_back("mcp-param-region", *header);
    const std::string more = R"("name":"t","arguments":{"r":)" + std::string(value) + "}";
    return finished(post(request(2, "tools/call", params(more)), given))->status;
  };
  EXPECT_EQ(status(R"("Hello")", "Hello"), 200);
  EXPECT_EQ(status(R"("Hello")", "=?base64?SGVsbG8=?="), 200);
  EXPECT_EQ(status("null", std::nullopt), 200);
  EXPECT_EQ(status(R"("Hello")", std::nullopt), 400);
  EXPECT_EQ(status(R"("Hello")", "other"), 400);
  EXPECT_EQ(status(R"("Hello")", "=?base64?SGVsbG8?="), 400);
  EXPECT_EQ(status(R"("Hello")", "=?base64?SGVs!!!bG8=?="), 400);
}

TEST_F(BridgeStateless, ProgressMakesAStreamAndComesWithTheClientsToken) {
  serve(modern_server([](Self& self, const Message& message) {
    const auto token = member(*member(message.params(), "_meta"), "progressToken");
    say(self, make_notification("notifications/progress",
                                R"({"progress":1,"progressToken":)" + std::string(*token) + "}"));
    say(self, make_response(*message.id(), "{}"));
  }));
  const auto reply =
      finished(post(request(9, "x", params({}, "{}", R"(,"progressToken":"mine")")), headers("x")));
  EXPECT_TRUE(reply->streams);
  EXPECT_THAT(reply->messages(),
              ElementsAre(HasSubstr(R"("progressToken":"mine")"), HasSubstr(R"("id":9)")));
}

TEST_F(BridgeStateless, WhoeverGoesHasCancelled) {
  std::string cancelled;
  std::string asked;
  serve(modern_server([&](Self&, const Message& message) {
    if (message.asks()) asked = message.id()->json();
    if (message.method() == "notifications/cancelled") cancelled = message.params();
  }));
  const auto reply = send(1, "slow");
  EXPECT_TRUE(run_until([&] { return !asked.empty(); }));
  reply->leave();
  EXPECT_TRUE(run_until([&] { return !cancelled.empty(); }));
  EXPECT_THAT(cancelled, HasSubstr(R"("requestId":)" + asked));
  EXPECT_EQ(bridge_->stats().in_flight, 0U);
}

TEST_F(BridgeStateless, ASubscriptionHasItsClientsIdNotTheChilds) {
  serve(modern_server([](Self& self, const Message& message) {
    if (message.method() != "subscriptions/listen") return;
    say(self, make_notification("notifications/subscriptions/acknowledged",
                                R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
                                    message.id()->json() + R"(},"notifications":{}})"));
  }));
  (void)finished(send(1, "tools/list"));
  const auto one = send(77, "subscriptions/listen", R"("notifications":{})");
  const auto other = send(77, "subscriptions/listen", R"("notifications":{})");
  EXPECT_TRUE(run_until([&] { return !one->events.empty() && !other->events.empty(); }));
  EXPECT_THAT(one->last(), HasSubstr(R"(subscriptionId":77})"));
  EXPECT_THAT(other->last(), HasSubstr(R"(subscriptionId":77})"));
  EXPECT_FALSE(one->over);
}

TEST_F(BridgeStateless, TheChildsDeathIsAnErrorAndTheNextRequestGetsAnother) {
  serve(modern_server([](Self& self, const Message& message) {
    if (message.method() == "die") self.exit(1);
    if (message.method() == "live") say(self, make_response(*message.id(), "{}"));
  }));
  const auto reply = finished(send(5, "die"));
  EXPECT_EQ(reply->status, 502);
  EXPECT_THAT(reply->body, AllOf(HasSubstr(R"("id":5)"), HasSubstr("-32603")));
  EXPECT_EQ(finished(send(6, "live"))->status, 200);
  EXPECT_EQ(bridge_->stats().child_deaths, 1U);
}

// --- Servers of the eras with sessions.

TEST_F(BridgeStateless, AnOldServerIsDiscoveredByItsGreeting) {
  serve(old_server());
  const auto reply = finished(send(1, "server/discover"));
  EXPECT_EQ(reply->status, 200);
  EXPECT_THAT(reply->body, AllOf(HasSubstr(R"("supportedVersions":["2026-07-28"])"),
                                 HasSubstr(R"("io.modelcontextprotocol/serverInfo":{"name":"s")"),
                                 HasSubstr(R"("capabilities":{"tools":{"listChanged":true}})")));
}

TEST_F(BridgeStateless, AnOldServersResultsAreCompletedAndItIsAskedForItsEraOnce) {
  int probes = 0;
  serve(Program().each_line([&](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    if (message->method() == "server/discover") {
      ++probes;
      return say(self, make_error(message->id(), kMethodNotFound, "no"));
    }
    if (message->method() == "initialize") {
      return say(self, make_response(*message->id(), greeting()));
    }
    if (message->method() == "die") self.exit(0);
    if (message->asks()) say(self, make_response(*message->id(), R"({"tools":[]})"));
  }));
  const auto reply = finished(send(1, "tools/list"));
  EXPECT_THAT(reply->body, AllOf(HasSubstr(R"("resultType":"complete")"), HasSubstr(R"("ttlMs":0)"),
                                 HasSubstr(R"("cacheScope":"private")")));
  (void)finished(send(2, "die"));
  EXPECT_EQ(finished(send(3, "tools/list"))->status, 200);
  EXPECT_EQ(probes, 1);
}

TEST_F(BridgeStateless, AServerThatIsSilentWhenAskedForItsEraIsAnOldOne) {
  limits_.probe_timeout = milliseconds(20);
  serve(Program().each_line([](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    if (message->method() == "initialize") say(self, make_response(*message->id(), greeting()));
    if (message->method() == "x") say(self, make_response(*message->id(), "{}"));
  }));
  EXPECT_EQ(finished(send(1, "x"))->status, 200);
}

TEST_F(BridgeStateless, AServerThatEndsWhenAskedForItsEraIsAnOldOne) {
  serve(Program().each_line([](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    if (message->method() == "server/discover") self.exit(1);
    if (message->method() == "initialize") say(self, make_response(*message->id(), greeting()));
    if (message->method() == "x") say(self, make_response(*message->id(), "{}"));
  }));
  EXPECT_EQ(finished(send(1, "x"))->status, 200);
}

// Asks for a name, and answers with what it was told.
void ask_name(Self& self, const Message& message) {
  if (message.method() == "tools/call") {
    self.out(make_request(Id::text(message.id()->json()), "elicitation/create",
                          R"({"message":"name?"})") +
             "\n");
  } else if (message.answers() && message.kind() == Message::Kind::response) {
    say(self, make_response(*Id::read(unescaped(message.id()->json())),
                            R"({"said":)" + std::string(message.result()) + "}"));
  } else if (message.answers()) {
    say(self, make_response(*Id::read(unescaped(message.id()->json())),
                            R"({"isError":true,"content":[]})"));
  }
}

TEST_F(BridgeStateless, WhatAnOldServerAsksIsAnsweredByTheNextTry) {
  serve(old_server(ask_name));
  const auto first = finished(call(1, "t", R"({"elicitation":{}})"));
  EXPECT_THAT(first->body, AllOf(HasSubstr(R"("resultType":"input_required")"),
                                 HasSubstr(R"("method":"elicitation/create")"),
                                 HasSubstr(R"("message":"name?")")));
  const auto message = parse_one(first->body);
  const std::string state = *string_member(message->result(), "requestState");
  const auto wrong = finished(call(2, "t", R"({"elicitation":{}})", R"(,"requestState":"other")"));
  EXPECT_THAT(wrong->body, HasSubstr("-32602"));
  const auto again =
      finished(call(3, "t", R"({"elicitation":{}})",
                    R"(,"requestState":")" + state + R"(","inputResponses":{"unknown":{}})"));
  EXPECT_THAT(again->body, HasSubstr(R"("resultType":"input_required")"));
  const std::string next = *string_member(parse_one(again->body)->result(), "requestState");
  const auto last = finished(call(
      4, "t", R"({"elicitation":{}})",
      R"(,"requestState":")" + next + R"(","inputResponses":{"input-1":{"action":"accept"}})"));
  EXPECT_THAT(last->body, AllOf(HasSubstr(R"("id":4)"), HasSubstr(R"("said":{"action":"accept"})"),
                                HasSubstr(R"("resultType":"complete")")));
  EXPECT_EQ(running(), 1U);
}

TEST_F(BridgeStateless, NoClientIsAskedForWhatItCannotDo) {
  serve(old_server(ask_name));
  const auto reply = finished(call(1, "t"));
  EXPECT_EQ(reply->status, 400);
  EXPECT_THAT(reply->body, AllOf(HasSubstr("-32021"),
                                 HasSubstr(R"("requiredCapabilities":{"elicitation":{}})")));
  EXPECT_EQ(finished(send(2, "server/discover"))->status, 200);
  EXPECT_EQ(running(), 1U);
}

// One at a time: a second one ends at once, as long as the first is there.
TEST_F(BridgeStateless, AServerThatCannotBeStartedTwiceIsNotStartedAgainAndAgain) {
  int started = 0;
  bool answer = false;
  serve(Program().step([&](Self& self) {
    if (++started > 1 && !answer) {
      self.exit(1);
      return;
    }
    self.each_line([&](Self& inside, std::string_view line) {
      const auto message = parse_one(line);
      if (!message || !message->id()) return;
      if (message->method() == "initialize") {
        say(inside, make_response(*message->id(), greeting()));
      } else if (message->method() == "server/discover") {
        say(inside, make_error(message->id(), kMethodNotFound, "no"));
      }
    });
  }));
  const auto first = call(1, "t");
  EXPECT_TRUE(run_until([&] { return bridge_->stats().children == 1; }));
  settle();
  const auto second = call(2, "t");
  for (int i = 0; i < 5; ++i) settle();
  EXPECT_LE(started, 3);
  answer = true;
}

// The server goes on with a call that was cancelled, and asks.
TEST_F(BridgeStateless, WhatAServerAsksForAClientThatHasGoneIsAskedOfNobodyElse) {
  limits_.pooled = 1;
  bool called = false;
  serve(old_server([&](Self& self, const Message& message) {
    if (message.method() == "notifications/cancelled") {
      say(self, make_request(Id::text("late"), "elicitation/create", R"({"message":"delete?"})"));
    } else if (message.method() == "tools/call" && !std::exchange(called, true)) {
      return;  // never answers the first
    } else if (message.method() == "tools/call") {
      self.sleep(milliseconds(20));
      say(self, make_response(*message.id(), R"({"content":[]})"));
    }
  }));
  const auto first = call(1, "t", R"({"elicitation":{}})");
  EXPECT_TRUE(run_until([&] { return called; }));
  first->leave();
  const auto second = finished(call(2, "t", R"({"elicitation":{}})"));
  EXPECT_THAT(second->body, AllOf(HasSubstr(R"("id":2)"), HasSubstr(R"("resultType":"complete")")));
}

TEST_F(BridgeStateless, WhoeverIsAskedAndDoesNotComeBackLosesItsTurn) {
  limits_.input_timeout = milliseconds(20);
  limits_.pooled = 1;
  serve(old_server(ask_name));
  const auto asked = finished(call(1, "t", R"({"elicitation":{}})"));
  const std::string state = *string_member(parse_one(asked->body)->result(), "requestState");
  const auto over = std::chrono::steady_clock::now() + milliseconds(60);
  EXPECT_TRUE(run_until([&] { return std::chrono::steady_clock::now() > over; }));
  const auto late =
      finished(call(3, "t", R"({"elicitation":{}})",
                    R"(,"requestState":")" + state + R"(","inputResponses":{"input-1":{}})"));
  EXPECT_THAT(late->body, HasSubstr("-32602"));
}

TEST_F(BridgeStateless, WhoeverIsAskedAndDoesNotComeBackMakesRoomForOthers) {
  limits_.pooled = 2;
  serve(old_server(ask_name));
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(finished(call(i, "t", R"({"elicitation":{}})"))->body, HasSubstr("input_required"));
  }
  EXPECT_EQ(running(), 2U);
}

TEST_F(BridgeStateless, AnOldServersLogIsForWhoAsksForIt) {
  serve(old_server([](Self& self, const Message& message) {
    if (!message.asks()) return;
    say(self, make_notification("notifications/message", R"({"level":"info","data":"x"})"));
    say(self, make_response(*message.id(), "{}"));
  }));
  EXPECT_FALSE(finished(send(1, "x"))->streams);
  const auto with = [&](std::string_view level) {
    return finished(post(
        request(2, "x",
                params({}, "{}",
                       R"(,"io.modelcontextprotocol/logLevel":")" + std::string(level) + "\"")),
        headers("x")));
  };
  EXPECT_TRUE(with("debug")->streams);
  EXPECT_FALSE(with("error")->streams);
}

TEST_F(BridgeStateless, ListenersOfAnOldServerHearWhatTheyAskedFor) {
  serve(old_server([](Self& self, const Message& message) {
    if (!message.asks()) return;
    say(self, make_notification("notifications/tools/list_changed"));
    say(self, make_notification("notifications/prompts/list_changed"));
    say(self, make_response(*message.id(), "{}"));
  }));
  const auto tools =
      send(5, "subscriptions/listen", R"("notifications":{"toolsListChanged":true})");
  const auto prompts =
      send(6, "subscriptions/listen", R"("notifications":{"promptsListChanged":true})");
  EXPECT_TRUE(run_until([&] { return !tools->events.empty() && !prompts->events.empty(); }));
  (void)finished(send(7, "change"));
  EXPECT_THAT(tools->messages(),
              ElementsAre(AllOf(HasSubstr("acknowledged"), HasSubstr(R"("toolsListChanged":true)")),
                          AllOf(HasSubstr("tools/list_changed"),
                                HasSubstr(R"("io.modelcontextprotocol/subscriptionId":5)"))));
  EXPECT_THAT(prompts->messages(), ElementsAre(Not(HasSubstr("promptsListChanged"))));
}

}  // namespace
}  // namespace cordon::mcp
