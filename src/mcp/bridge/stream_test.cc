// Streams of sessions: what goes where, what is kept, and what is asked of clients.
#include "mcp/bridge/test_support.h"

namespace cordon::mcp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using BridgeStream = BridgeTest;

std::string note(std::string_view data) {
  return make_notification("notifications/message",
                           R"({"level":"info","data":")" + std::string(data) + "\"}");
}

// Says two things before it answers; "later" answers after the next message.
Program talkative() {
  return old_server([](Self& self, const Message& message) {
    if (!message.asks()) return;
    say(self, note("one"));
    say(self, note("two"));
    if (message.method() == "talk") say(self, make_response(*message.id(), "{}"));
  });
}

TEST_F(BridgeStream, WhatComesBeforeTheAnswerMakesAStreamWithAPrimingEvent) {
  serve(talkative());
  const auto reply = finished(post(request(1, "talk"), session()));
  EXPECT_TRUE(reply->streams);
  ASSERT_EQ(reply->events.size(), 4U);
  EXPECT_TRUE(reply->events[0].priming);
  EXPECT_TRUE(reply->events[0].retry.has_value());
  EXPECT_EQ(reply->events[0].data, "");
  EXPECT_THAT(reply->messages(), ElementsAre(note("one"), note("two"), HasSubstr(R"("id":1)")));
  std::set<std::string> ids;
  for (const StreamEvent& event : reply->events) ids.insert(event.id);
  EXPECT_EQ(ids.size(), 4U);
}

TEST_F(BridgeStream, EarlierRevisionsHaveNoPrimingEvent) {
  serve(old_server(
      [](Self& self, const Message& message) {
        if (!message.asks()) return;
        say(self, note("one"));
        say(self, make_response(*message.id(), "{}"));
      },
      "2025-06-18"));
  const auto reply = finished(post(request(1, "talk"), session()));
  EXPECT_EQ(reply->events.size(), 2U);
}

TEST_F(BridgeStream, AResumedStreamHasExactlyWhatCameAfter) {
  serve(talkative());
  const Headers headers = session();
  const auto other = finished(post(request(1, "talk"), headers));
  const auto lost = finished(post(request(2, "talk"), headers));
  Headers again = headers;
  again.emplace_back("last-event-id", lost->events[1].id);
  const auto resumed = finished(get(again));
  EXPECT_THAT(resumed->messages(), ElementsAre(note("two"), HasSubstr(R"("id":2)")));
}

TEST_F(BridgeStream, ADisconnectIsNoCancellationAndTheAnswerCanBeFetched) {
  bool cancelled = false;
  serve(old_server([&](Self& self, const Message& message) {
    if (message.method() == "notifications/cancelled") cancelled = true;
    if (message.method() == "slow") {
      say(self, note("begun"));
      self.sleep(milliseconds(50));
      say(self, make_response(*message.id(), R"({"done":true})"));
    }
  }));
  const Headers headers = session();
  const auto reply = post(request(1, "slow"), headers);
  ASSERT_TRUE(run_until([&] { return reply->events.size() == 2; }));
  reply->leave();
  EXPECT_TRUE(run_until([&] { return bridge_->stats().in_flight == 0; }));
  Headers again = headers;
  again.emplace_back("last-event-id", reply->events[1].id);
  EXPECT_THAT(finished(get(again))->messages(), ElementsAre(HasSubstr(R"({"done":true})")));
  EXPECT_FALSE(cancelled);
}

TEST_F(BridgeStream, ASlowRequestGetsAStreamAndIsSentAwayToComeAgain) {
  limits_.stream_after = milliseconds(10);
  limits_.poll_after = milliseconds(10);
  bool answer = false;
  serve(old_server([&](Self& self, const Message& message) {
    if (!message.asks()) return;
    const std::string text = make_response(*message.id(), R"({"done":true})");
    self.forever(Program().step([&answer, text](Self& inner) {
      if (std::exchange(answer, false)) say(inner, text);
    }));
  }));
  const Headers headers = session();
  const auto reply = finished(post(request(1, "slow"), headers));
  ASSERT_TRUE(reply->streams);
  EXPECT_THAT(reply->messages(), IsEmpty());
  Headers again = headers;
  again.emplace_back("last-event-id", reply->events.back().id);
  const auto second = get(again);
  settle();
  EXPECT_FALSE(second->over);
  answer = true;
  EXPECT_THAT(finished(second)->messages(), ElementsAre(HasSubstr(R"({"done":true})")));
}

TEST_F(BridgeStream, ForgottenAndForeignEventsAreRefused) {
  limits_.replay_bytes = 150;
  serve(talkative());
  const Headers headers = session();
  const auto reply = finished(post(request(1, "talk"), headers));
  (void)finished(post(request(2, "talk"), headers));
  for (const std::string& id : {reply->events[0].id, std::string("99-1"), std::string("x")}) {
    Headers again = headers;
    again.emplace_back("last-event-id", id);
    EXPECT_EQ(finished(get(again))->status, 400) << id;
  }
}

TEST_F(BridgeStream, OneStandingStreamWithWhatBelongsToNoRequest) {
  serve(old_server([](Self& self, const Message& message) {
    if (message.method() != "notifications/initialized") return;
    say(self, make_notification("notifications/tools/list_changed"));
  }));
  const Headers headers = session();
  (void)post(make_notification("notifications/initialized"), headers);
  settle();
  const auto stream = get(headers);  // what came before is there
  EXPECT_THAT(stream->messages(), ElementsAre(HasSubstr("list_changed")));
  EXPECT_EQ(finished(get(headers))->status, 409);
  (void)post(make_notification("notifications/initialized"), headers);
  EXPECT_TRUE(run_until([&] { return stream->messages().size() == 2; }));
  stream->leave();
  const auto next = get(headers);
  EXPECT_EQ(next->status, 200);
  EXPECT_THAT(next->messages(), IsEmpty());
}

// Asks the client, and answers with what it was told.
void ask_client(Self& self, const Message& message) {
  if (message.method() == "tools/call") {
    say(self, make_request(Id::text("q" + message.id()->json()), "sampling/createMessage",
                           R"({"messages":[]})"));
  } else if (message.answers()) {
    say(self, make_response(*Id::read(unescaped(message.id()->json()).substr(1)),
                            R"({"told":)" + std::string(message.result()) + "}"));
  }
}

TEST_F(BridgeStream, WhatTheServerAsksTravelsToTheClientAndBack) {
  serve(old_server(ask_client));
  const Headers headers = session();
  const auto reply = post(request(1, "tools/call"), headers);
  ASSERT_TRUE(run_until([&] { return reply->messages().size() == 1; }));
  const auto asked = parse_one(reply->last());
  EXPECT_EQ(asked->method(), "sampling/createMessage");
  const auto given = finished(post(make_response(*asked->id(), R"({"model":"m"})"), headers));
  EXPECT_EQ(given->status, 202);
  EXPECT_THAT(finished(reply)->last(),
              AllOf(HasSubstr(R"("id":1)"), HasSubstr(R"({"told":{"model":"m"}})")));
  const auto twice = finished(post(make_response(*asked->id(), "{}"), headers));
  EXPECT_EQ(twice->status, 400);
}

TEST_F(BridgeStream, ProgressGoesToItsRequestAmongOthers) {
  serve(old_server([](Self& self, const Message& message) {
    if (message.method() != "work") return;
    const auto token = member(*member(message.params(), "_meta"), "progressToken");
    say(self, make_notification("notifications/progress",
                                R"({"progress":1,"progressToken":)" + std::string(*token) + "}"));
  }));
  const Headers headers = session();
  const auto one = post(request(1, "work", R"({"_meta":{"progressToken":"a"}})"), headers);
  const auto other = post(request(2, "work", R"({"_meta":{"progressToken":"b"}})"), headers);
  EXPECT_TRUE(run_until([&] { return !one->messages().empty() && !other->messages().empty(); }));
  settle();
  EXPECT_THAT(one->messages(), ElementsAre(HasSubstr(R"("progressToken":"a")")));
  EXPECT_THAT(other->messages(), ElementsAre(HasSubstr(R"("progressToken":"b")")));
}

TEST_F(BridgeStream, ACancellationNamesTheServersIdAndEndsTheExchange) {
  std::string asked;
  std::string cancelled;
  serve(old_server([&](Self&, const Message& message) {
    if (message.asks()) asked = message.id()->json();
    if (message.method() == "notifications/cancelled") cancelled = message.params();
  }));
  const Headers headers = session();
  const auto reply = post(request(41, "slow"), headers);
  EXPECT_EQ(
      finished(post(make_notification("notifications/cancelled", R"({"requestId":41})"), headers))
          ->status,
      202);
  EXPECT_THAT(finished(reply)->last(), HasSubstr("cancelled"));
  EXPECT_TRUE(run_until([&] { return !cancelled.empty(); }));
  EXPECT_THAT(cancelled, HasSubstr(R"("requestId":)" + asked));
}

TEST_F(BridgeStream, ASlowClientHoldsItsServerBackAndLosesNothing) {
  limits_.pending_bytes = 1000;
  limits_.replay_bytes = 100'000'000;
  serve(old_server([](Self& self, const Message& message) {
    if (message.method() != "flood") return;
    self.repeat(20'000, Program().out(note(std::string(100, 'x')) + "\n"));
    say(self, make_response(*message.id(), "{}"));
  }));
  const Headers headers = session();
  auto reply = std::make_shared<FakeReply>();
  reply->slow = true;
  bridge_->handle({.verb = Verb::post,
                   .server = "s",
                   .headers = headers,
                   .takes_json = true,
                   .takes_stream = true,
                   .body = request(1, "flood")},
                  reply);
  settle();
  const std::size_t taken = reply->events.size();
  EXPECT_LT(taken, 1000U);
  settle();
  EXPECT_EQ(reply->events.size(), taken);
  reply->slow = false;
  reply->catch_up();
  EXPECT_EQ(finished(reply)->messages().size(), 20'001U);
}

}  // namespace
}  // namespace cordon::mcp
