// A bridge whose loop does not sleep between messages, or only now and then.
#include "mcp/bridge/test_support.h"

namespace cordon::mcp {
namespace {

using ::testing::HasSubstr;

class BridgeAwake : public BridgeTest {
 protected:
  // As run_until(), without ever being told of anything by another thread.
  [[nodiscard]] bool look_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + seconds(10);
    io_.restart();
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      manager_.advance(milliseconds(1));
      (void)bridge_->look();
      io_.poll();
    }
    return true;
  }
  // Until the session's server is looked at: what comes of a message that is told does that.
  [[nodiscard]] Headers session_while_looking() {
    const auto reply = post(begin());
    EXPECT_TRUE(look_until([&] { return reply->over; }));
    return {{"mcp-session-id", reply->header("mcp-session-id")},
            {"mcp-protocol-version", "2025-11-25"}};
  }
};

TEST_F(BridgeAwake, AnswersAreFoundByLooking) {
  serve(old_server());
  const Headers headers = session_while_looking();
  for (int id = 1; id <= 10; ++id) {
    const auto reply = post(request(id, "ping"), headers);
    ASSERT_TRUE(look_until([&] { return reply->over; }));
    EXPECT_EQ(reply->body, make_response(Id::number(id), "{}"));
  }
}

TEST_F(BridgeAwake, AnswersAreToldWhenTheLoopHasGoneToSleep) {
  serve(old_server());
  const Headers headers = session_while_looking();
  for (int id = 1; id <= 30; ++id) {
    const auto reply = post(request(id, "ping"), headers);
    if (id % 3 != 0) {
      ASSERT_TRUE(look_until([&] { return reply->over; }));
    }
    bridge_->rest();
    ASSERT_TRUE(run_until([&] { return reply->over; })) << id;
    EXPECT_EQ(reply->body, make_response(Id::number(id), "{}"));
  }
}

TEST_F(BridgeAwake, TheEndOfAServerIsFoundByLooking) {
  serve(old_server([](Self& self, const Message&) { self.exit(1); }));
  const Headers headers = session_while_looking();
  const auto reply = post(request(1, "tools/list"), headers);
  ASSERT_TRUE(look_until([&] { return reply->over; }));
  EXPECT_THAT(reply->last(), HasSubstr("ended"));
  EXPECT_EQ(running(), 0U);
}

TEST_F(BridgeAwake, MoreServersThanAreLookedAtAreAllAnswered) {
  serve(old_server());
  constexpr int kSessions = 20;
  std::vector<Headers> sessions;
  for (int i = 0; i < kSessions; ++i) sessions.push_back(session_while_looking());
  for (int round = 1; round <= 3; ++round) {
    std::vector<std::shared_ptr<FakeReply>> replies;
    for (const Headers& headers : sessions)
      replies.push_back(post(request(round, "ping"), headers));
    for (const auto& reply : replies) {
      ASSERT_TRUE(look_until([&] { return reply->over; }));
      EXPECT_EQ(reply->body, make_response(Id::number(round), "{}"));
    }
  }
}

// A client that does not read holds back its server, whoever looks.
TEST_F(BridgeAwake, AServerThatIsHeldBackIsNotReadByLooking) {
  limits_.pending_bytes = 1000;
  limits_.replay_bytes = 100'000'000;
  serve(old_server([](Self& self, const Message& message) {
    if (message.method() != "flood") return;
    self.repeat(20'000, Program().out(make_notification("notifications/message") + "\n"));
    say(self, make_response(*message.id(), "{}"));
  }));
  const Headers headers = session_while_looking();
  const auto reply = post(request(1, "flood"), headers);
  reply->slow = true;
  const auto look_on = [&] {
    for (int i = 0; i < 50; ++i) (void)look_until([turns = 0]() mutable { return turns++ > 0; });
  };
  look_on();
  const std::size_t taken = reply->events.size();
  EXPECT_LT(taken, 1000U);
  look_on();
  EXPECT_EQ(reply->events.size(), taken);
  reply->slow = false;
  reply->catch_up();
  EXPECT_TRUE(look_until([&] { return reply->over; }));
  EXPECT_EQ(reply->messages().size(), 20'001U);
}

}  // namespace
}  // namespace cordon::mcp
