// One child for several sessions, and gates.
#include "mcp/bridge/test_support.h"

namespace cordon::mcp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using BridgeShared = BridgeTest;

TEST_F(BridgeShared, OneChildInitialisedOnceWithIdsKeptApart) {
  int begun = 0;
  std::vector<std::string> asked;
  serve(Program().each_line([&](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    if (message->method() == "initialize") {
      ++begun;
      return say(self, make_response(*message->id(), greeting()));
    }
    if (!message->asks()) return;
    asked.push_back(std::string(message->text()));
    // In the wrong order.
    if (asked.size() != 2) return;
    for (const std::string& one : {asked[1], asked[0]}) {
      const auto request = parse_one(one);
      say(self, make_response(*request->id(), request->params()));
    }
  }),
        {.shared = true});
  const auto first = post(begin());
  const auto second = post(begin());
  (void)finished(first);
  (void)finished(second);
  EXPECT_NE(first->header("mcp-session-id"), second->header("mcp-session-id"));
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(running(), 1U);
  const auto one = post(request(1, "x", R"({"of":"one"})"),
                        {{"mcp-session-id", first->header("mcp-session-id")}});
  const auto other = post(request(1, "x", R"({"of":"other"})"),
                          {{"mcp-session-id", second->header("mcp-session-id")}});
  EXPECT_THAT(finished(one)->body, AllOf(HasSubstr(R"("id":1)"), HasSubstr(R"("of":"one")")));
  EXPECT_THAT(finished(other)->body, AllOf(HasSubstr(R"("id":1)"), HasSubstr(R"("of":"other")")));
}

TEST_F(BridgeShared, WhatIsOnesIsNoOthers) {
  serve(old_server([](Self& self, const Message& message) {
          if (message.method() != "x") return;
          say(self,
              make_notification("notifications/message", R"({"level":"info","data":"mine"})"));
          say(self, make_notification("notifications/tools/list_changed"));
          say(self, make_response(*message.id(), "{}"));
        }),
        {.shared = true});
  const Headers one = session();
  const Headers other = session();
  const auto listens = get(one);
  const auto hears = get(other);
  const auto reply = finished(post(request(1, "x"), one));
  EXPECT_THAT(reply->messages(), ElementsAre(HasSubstr("mine"), HasSubstr(R"("id":1)")));
  EXPECT_THAT(listens->messages(), ElementsAre(HasSubstr("list_changed")));
  EXPECT_THAT(hears->messages(), ElementsAre(HasSubstr("list_changed")));
}

TEST_F(BridgeShared, ItsDeathEndsAllItsSessionsAndTheNextBeginsAnew) {
  serve(old_server([](Self& self, const Message& message) {
          if (message.method() == "die") self.exit(1);
        }),
        {.shared = true});
  const Headers one = session();
  const Headers other = session();
  (void)finished(post(request(1, "die"), one));
  EXPECT_EQ(finished(post(request(2, "ping"), other))->status, 404);
  EXPECT_EQ(finished(post(request(2, "ping"), session()))->status, 200);
}

TEST_F(BridgeShared, OneSessionsEndIsNotTheChilds) {
  serve(old_server(), {.shared = true});
  const Headers one = session();
  const Headers other = session();
  (void)finished(ask({.verb = Verb::remove, .headers = one}));
  EXPECT_EQ(finished(post(request(2, "ping"), other))->status, 200);
  EXPECT_EQ(running(), 1U);
}

// Refuses "secret" and hides what the server calls "password".
class TestGate final : public Gate {
 public:
  explicit TestGate(std::vector<std::string>& seen) : seen_(seen) {}
  [[nodiscard]] std::optional<std::string> from_client(const Message& message) override {
    seen_.push_back("> " + message.method() + " " + (message.id() ? message.id()->json() : ""));
    if (message.method() != "secret") return std::nullopt;
    return make_error(message.id(), kInvalidParams, "not allowed");
  }
  [[nodiscard]] std::optional<std::string> from_server(const Message& message) override {
    seen_.push_back("< " + (message.id() ? message.id()->json() : ""));
    if (message.result().find("password") == std::string_view::npos) return std::nullopt;
    return make_response(*message.id(), R"({"hidden":true})");
  }

 private:
  std::vector<std::string>& seen_;
};

TEST_F(BridgeShared, AGateSeesTheClientsIdsRefusesAndReplaces) {
  std::vector<std::string> seen;
  std::vector<std::string> reached;
  ServedServer server;
  server.make_gate = [&] { return std::make_unique<TestGate>(seen); };
  serve(old_server([&](Self& self, const Message& message) {
          reached.push_back(message.method());
          if (message.asks()) say(self, make_response(*message.id(), R"({"password":"x"})"));
        }),
        std::move(server));
  const Headers headers = session();
  const auto refused = finished(post(request(70, "secret"), headers));
  EXPECT_EQ(refused->status, 200);
  EXPECT_THAT(refused->body, HasSubstr("not allowed"));
  EXPECT_THAT(reached, IsEmpty());
  EXPECT_EQ(finished(post(request(71, "read"), headers))->body,
            make_response(Id::number(71), R"({"hidden":true})"));
  EXPECT_THAT(seen, ElementsAre("> initialize 0", "< 0", "> secret 70", "> read 71", "< 71"));
}

}  // namespace
}  // namespace cordon::mcp
