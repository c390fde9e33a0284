// A client and servers that are scripted in memory, well-behaved and otherwise.
#include "mcp/client.h"

#include <gmock/gmock.h>

#include "cordon/memory.h"
#include "mcp/tools/tool_gate.h"

namespace cordon::mcp {
namespace {

using namespace std::chrono_literals;
using memory::Program;
using memory::Self;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = AskFailure::Kind;

constexpr std::string_view kGreeting =
    R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},)"
    R"("serverInfo":{"name":"old","version":"1"},"instructions":"Be kind."})";

using Respond = std::function<void(Self&, const Message&)>;

void say(Self& self, const std::string& text) { self.out(text + "\n"); }

// Of the era of sessions; what is not said here is `respond`'s.
Program old_server(Respond respond = {}) {
  return Program().each_line([respond = std::move(respond)](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    ASSERT_TRUE(message) << line;
    if (message->method() == "server/discover") {
      return say(self, make_error(message->id(), kMethodNotFound, "what?"));
    }
    if (message->method() == "initialize") {
      return say(self, make_response(*message->id(), kGreeting));
    }
    if (respond) respond(self, *message);
  });
}

class ClientTest : public testing::Test {
 protected:
  Client& talk_to(Program program, ClientOptions options = {}) {
    manager_.add("server", std::move(program));
    Request request;
    request.program = "server";
    request.timeout = kNoTimeout;
    request.in = Input::pipe();
    request.out = Output::events({.mode = OutputMode::line, .max_frame = 1 << 16});
    request.err = Output::events();
    process_ = *manager_.create(std::move(request));
    events_.emplace(process_->events());
    EXPECT_TRUE(process_->start());
    client_.emplace(*process_, *events_, manager_.clock(), options);
    return *client_;
  }

  memory::Manager manager_;
  std::shared_ptr<Process> process_;
  std::optional<EventStream> events_;
  std::optional<Client> client_;
};

TEST_F(ClientTest, GreetsAServerOfSessions) {
  std::vector<std::string> heard;
  Client& client = talk_to(
      old_server([&](Self&, const Message& message) { heard.push_back(message.method()); }));
  const auto facts = client.begin();
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_FALSE(facts->modern);
  EXPECT_EQ(facts->protocol, "2025-06-18");
  EXPECT_EQ(facts->name, "old");
  EXPECT_EQ(facts->instructions, "Be kind.");
  EXPECT_EQ(facts->capabilities, "{\"tools\":{}}");
  client.end(1s);
  EXPECT_THAT(heard, ElementsAre("notifications/initialized"));
}

TEST_F(ClientTest, RecognisesAServerWithoutSessionsAndTellsItsVersionWithEachRequest) {
  std::vector<std::string> asked;
  Client& client = talk_to(Program().each_line([&](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    asked.emplace_back(message->params());
    say(self, make_response(*message->id(),
                            R"({"resultType":"complete","supportedVersions":["2026-07-28"],)"
                            R"("capabilities":{},"_meta":{"io.modelcontextprotocol/serverInfo":)"
                            R"({"name":"new","version":"2"}},"tools":[{"name":"a"}]})"));
  }));
  const auto facts = client.begin();
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_TRUE(facts->modern);
  EXPECT_EQ(facts->name, "new");
  ASSERT_TRUE(client.list("tools/list", "tools"));
  ASSERT_TRUE(client.ask("x", R"({"name":"n"})"));
  ASSERT_EQ(asked.size(), 3U);
  for (const std::string& params : asked) {
    EXPECT_TRUE(check_json(params, {})) << params;
    EXPECT_THAT(params, HasSubstr(R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")"));
  }
  EXPECT_EQ(string_member(asked[2], "name"), "n");
}

TEST_F(ClientTest, AServerThatIgnoresTheProbeIsGreetedAfterAWhile) {
  Client& client = talk_to(Program().each_line([](Self& self, std::string_view line) {
    const auto message = parse_one(line);
    if (message->method() == "initialize") say(self, make_response(*message->id(), kGreeting));
  }));
  ASSERT_TRUE(client.begin());
  EXPECT_GE(manager_.clock().now().time_since_epoch(), 2s);
}

TEST_F(ClientTest, TakesAllPagesOfAList) {
  Client& client = talk_to(old_server([](Self& self, const Message& message) {
    if (!message.asks()) return;
    const auto cursor = string_member(message.params(), "cursor");
    say(self, make_response(*message.id(), cursor ? R"({"tools":[{"name":"c"}]})"
                                                  : R"({"tools":[1,2],"nextCursor":"n\u0031"})"));
  }));
  ASSERT_TRUE(client.begin());
  const auto all = client.list("tools/list", "tools");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(*all, ElementsAre("1", "2", "{\"name\":\"c\"}"));
}

TEST_F(ClientTest, AListWithoutEndEnds) {
  Client& client = talk_to(old_server([](Self& self, const Message& message) {
    if (message.asks()) say(self, make_response(*message.id(), R"({"a":[],"nextCursor":"x"})"));
  }));
  ASSERT_TRUE(client.begin());
  EXPECT_THAT(client.list("a/list", "a").error().message, HasSubstr("begins anew"));
  EXPECT_THAT(client.list("a/list", "b").error().message, HasSubstr("no list b"));
}

TEST_F(ClientTest, AnswersWhatTheServerAsksMeanwhile) {
  std::vector<std::string> answers;
  Client& client = talk_to(old_server([&](Self& self, const Message& message) {
    if (message.answers()) answers.push_back(message.text());
    if (message.method() != "go") return;
    say(self, make_request(Id::text("p"), "ping"));
    say(self, make_request(Id::number(1), "roots/list"));
    say(self, make_request(Id::number(2), "sampling/createMessage", "{}"));
    self.sleep(10ms);
    say(self, make_response(*message.id(), "{}"));
  }));
  ASSERT_TRUE(client.begin());
  ASSERT_TRUE(client.ask("go"));
  client.end(1s);
  EXPECT_THAT(answers, ElementsAre(R"({"jsonrpc":"2.0","id":"p","result":{}})",
                                   R"({"jsonrpc":"2.0","id":1,"result":{"roots":[]}})",
                                   HasSubstr("-32601")));
}

TEST_F(ClientTest, AServerThatHangsInInitializeIsNotWaitedForForEver) {
  Client& client = talk_to(Program().err("starting\n").drain_stdin());
  const auto facts = client.begin();
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().kind, Kind::timed_out);
  EXPECT_EQ(facts.error().message, "the server did not answer initialize within 30000 ms");
  EXPECT_EQ(client.log(), "starting\n");
}

TEST_F(ClientTest, AServerThatEndsAtOnceIsNoticed) {
  Client& client = talk_to(Program().err("no such module\n").exit(1));
  const auto facts = client.begin();
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().kind, Kind::ended);
  client.end(1s);
  EXPECT_EQ(client.log(), "no such module\n");
}

TEST_F(ClientTest, AServerThatClosesItsStdinIsNotWaitedForForEver) {
  Client& client = talk_to(Program().close_stdin().err("bye\n").hang());
  const auto facts = client.begin();
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().kind, Kind::ended);
  EXPECT_THAT(facts.error().message, HasSubstr("closed its stdin"));
  EXPECT_EQ(client.log(), "bye\n");
}

TEST_F(ClientTest, AFloodOfGarbageDoesNotHoldItUp) {
  Client& client = talk_to(Program().flood(), {.patience = 100ms, .probe = 50ms});
  const auto facts = client.begin();
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().kind, Kind::timed_out);
  EXPECT_GT(client.noise(), 0U);
  EXPECT_LT(client.first_noise().size(), 300U);
}

TEST_F(ClientTest, AFloodOfRequestsDoesNotHoldItUpEither) {
  Program flood;
  flood.forever(Program().out(make_request(Id::number(1), "ping") + "\n"));
  Client& client = talk_to(flood, {.patience = 100ms, .probe = 50ms});
  EXPECT_EQ(client.begin().error().kind, Kind::timed_out);
}

TEST_F(ClientTest, AnswersToOtherThingsAreNotTakenForTheAnswer) {
  Client& client = talk_to(old_server([](Self& self, const Message& message) {
    if (!message.asks()) return;
    say(self, "Listening …");
    say(self, make_response(Id::number(999), "{\"a\":1}"));
    say(self, make_response(Id::text(message.id()->json()), "{\"a\":2}"));
    say(self, make_response(*message.id(), "{\"a\":3}"));
    say(self, make_response(*message.id(), "{\"a\":4}"));
  }));
  ASSERT_TRUE(client.begin());
  EXPECT_EQ(client.ask("x"), "{\"a\":3}");
  EXPECT_EQ(client.ask("x"), "{\"a\":3}");
  EXPECT_EQ(client.first_noise(), "Listening …");
}

TEST_F(ClientTest, AnErrorIsToldWithItsCode) {
  Client& client = talk_to(old_server([](Self& self, const Message& message) {
    if (message.asks()) say(self, make_error(message.id(), -32602, "Unknown tool: x\x1b"));
  }));
  ASSERT_TRUE(client.begin());
  const auto result = client.ask("tools/call", R"({"name":"x"})");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, -32602);
  EXPECT_EQ(result.error().message, "tools/call: Unknown tool: x\\x1b (-32602)");
}

TEST_F(ClientTest, AStubbornServerIsEnded) {
  Client& client = talk_to(Program().ignore(SIGTERM).hang());
  client.end(50ms);
  EXPECT_FALSE(process_->running());
}

TEST_F(ClientTest, TheGateHoldsForItToo) {
  int calls = 0;
  ToolGate gate(ToolPolicy({*tool_options({"a"}, {})}), manager_.clock(), nullptr);
  Client& client = talk_to(
      old_server([&](Self& self, const Message& message) {
        if (message.method() == "tools/call") ++calls;
        if (message.asks()) {
          say(self, make_response(*message.id(), R"({"tools":[{"name":"a"},{"name":"b"}]})"));
        }
      }),
      {.gate = &gate});
  ASSERT_TRUE(client.begin());
  EXPECT_THAT(*client.list("tools/list", "tools"), ElementsAre("{\"name\":\"a\"}"));
  EXPECT_EQ(client.ask("tools/call", R"({"name":"b"})").error().code, kInvalidParams);
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(client.ask("tools/call", R"({"name":"a"})"));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace cordon::mcp
