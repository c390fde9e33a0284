// What passes the gate, and what is told of it.
#include "mcp/tools/tool_gate.h"

#include <gmock/gmock.h>

#include <vector>

#include "cordon/memory.h"
#include "policy/testing.h"

namespace cordon::mcp {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using End = audit::Call::End;

class Calls final : public CallSink {
 public:
  void add(audit::Call call) override { all.push_back(std::move(call)); }
  [[nodiscard]] bool works() const override { return working; }
  [[nodiscard]] std::vector<End> ends() const {
    std::vector<End> found;
    for (const audit::Call& call : all) found.push_back(call.end);
    return found;
  }
  std::vector<audit::Call> all;
  bool working = true;
};

Message message(const std::string& text) {
  auto parsed = parse_one(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().message;
  return *std::move(parsed);
}

std::string call(const std::string& id, const std::string& name,
                 const std::string& arguments = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":)" + name +
         R"(,"arguments":)" + arguments + "}}";
}

class ToolGateTest : public testing::Test {
 protected:
  void rules(const std::string& toml) {
    gate_.emplace(ToolPolicy(policy::tools_of(policy::policy_of({{"site.toml", toml}}))),
                  manager_.clock(), &calls_);
  }
  std::optional<std::string> client(const std::string& text) {
    return gate_->from_client(message(text));
  }
  std::optional<std::string> server(const std::string& text) {
    return gate_->from_server(message(text));
  }

  memory::Manager manager_;
  Calls calls_;
  std::optional<ToolGate> gate_;
};

TEST_F(ToolGateTest, ADeniedCallIsAnsweredAndNeverPasses) {
  rules("[mcp]\nallow_tools = [\"fs_read\"]\n");
  EXPECT_EQ(client(call("1", R"("fs_read")")), std::nullopt);
  const auto answer = client(call("\"x\"", R"("fs_write")"));
  ASSERT_TRUE(answer);
  const Message error = message(*answer);
  EXPECT_EQ(error.kind(), Message::Kind::error);
  EXPECT_EQ(error.id(), Id::text("x"));
  EXPECT_THAT(*answer, AllOf(HasSubstr("-32602"), HasSubstr("fs_write is not among those that")));
  EXPECT_THAT(calls_.ends(), ElementsAre(End::refused));
  EXPECT_EQ(calls_.all[0].tool, "fs_write");
}

TEST_F(ToolGateTest, AnEscapedNameIsTheNameThatItMeans) {
  rules("[mcp]\ndeny_tools = [\"fs_read\"]\n");
  EXPECT_TRUE(client(call("1", R"("\u0066s_read")")));
  EXPECT_TRUE(client(call("2", R"("fs\u005fread")")));
  EXPECT_TRUE(client(call("3", R"("FS_READ")")));
  EXPECT_TRUE(client(
      R"({"jsonrpc":"2.0","id":4,"\u006dethod":"tools\/call","params":{"name":"fs_read"}})"));
  EXPECT_FALSE(client(call("5", R"("other")")));
}

TEST_F(ToolGateTest, NamesThatCannotBeJudgedAreRefused) {
  rules("[mcp]\ndeny_tools = [\"x\"]\n");
  EXPECT_TRUE(client(call("1", "7")));
  EXPECT_TRUE(client(call("2", "null")));
  EXPECT_TRUE(client(call("3", R"([])")));
  EXPECT_TRUE(client(R"({"jsonrpc":"2.0","id":4,"method":"tools/call"})"));
  EXPECT_TRUE(client(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}})"));
  const auto answer = client(call("6", '"' + std::string(1'000'000, 'a') + '"'));
  ASSERT_TRUE(answer);
  EXPECT_LT(answer->size(), 1000U) << "the name is not repeated";
  EXPECT_TRUE(client(call("7", R"("x\u0000")")));
  EXPECT_TRUE(client(call("8", R"("y")", "[]"))) << "arguments that are no object";
}

TEST_F(ToolGateTest, PartsThatSomeTakeForOthersDoNotPass) {
  rules("[mcp]\ndeny_tools = [\"x\"]\n");
  EXPECT_TRUE(client(
      R"({"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call","params":{"name":"x"}})"));
  EXPECT_TRUE(
      client("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"y\"},\"param\u017f\":{\"name\":\"x\"}}"));
  EXPECT_TRUE(
      client(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"y","Name":"x"}})"));
  EXPECT_TRUE(client(
      R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"y","Arguments":{}}})"));
  EXPECT_TRUE(client(R"({"jsonrpc":"2.0","id":5,"method":"Tools/Call","params":{"name":"x"}})"));
  EXPECT_TRUE(client(R"({"jsonrpc":"2.0","id":6,"method":"tools/call ","params":{"name":"x"}})"));
  EXPECT_FALSE(client(R"({"jsonrpc":"2.0","id":7,"method":"ping","more":1})"));
}

TEST_F(ToolGateTest, AMessageWithinAMessageDoesNotPass) {
  rules("[mcp]\ndeny_tools = [\"x\"]\n");
  const std::string hidden = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":";
  EXPECT_TRUE(client(hidden + "\r" + call("2", R"("x")") + "\r}}"));
  EXPECT_FALSE(client(hidden + call("2", R"("x")") + "}}")) << "without a line of its own";
  // An answer that hides one is dropped.
  EXPECT_EQ(
      client("{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"a\":\r" + call("2", R"("x")") + "\r}}"),
      "");
}

TEST_F(ToolGateTest, ACallThatAsksForNoAnswerIsDropped) {
  rules("[mcp]\nallow_tools = [\"a\"]\n");
  EXPECT_EQ(client(R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}})"), "");
  EXPECT_THAT(calls_.ends(), ElementsAre(End::refused));
  EXPECT_FALSE(client(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"));
}

TEST_F(ToolGateTest, AnIdThatIsInUseIsRefused) {
  rules("[mcp]\nallow_tools = [\"a\"]\n");
  EXPECT_FALSE(client(R"({"jsonrpc":"2.0","id":"a","method":"tools/list"})"));
  EXPECT_TRUE(client(R"({"jsonrpc":"2.0","id":"\u0061","method":"ping"})"));
  // What comes back is still the list, and filtered.
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"b"}]}})"),
            R"({"jsonrpc":"2.0","id":"a","result":{"tools":[]}})");
  EXPECT_FALSE(client(R"({"jsonrpc":"2.0","id":"a","method":"ping"})")) << "it is free again";
}

TEST_F(ToolGateTest, ListsShowWhatMayBeCalledAndAreOtherwiseAsTheyCame) {
  rules("[mcp]\nallow_tools = [\"a\", \"c\"]\n");
  const std::string ask = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  EXPECT_FALSE(client(ask));
  EXPECT_EQ(
      server(R"({ "result": {"nextCursor":"n\u0031", "tools" : [ {"name":"a", "x":1.50} ,)"
             R"({"name":"b"},{"\u006eame":"\u0063"},7,{}] ,"_meta":{}},"id":1,"jsonrpc":"2.0"})"),
      R"({ "result": {"nextCursor":"n\u0031", "tools" : [{"name":"a", "x":1.50},)"
      R"({"\u006eame":"\u0063"}] ,"_meta":{}},"id":1,"jsonrpc":"2.0"})");
  EXPECT_FALSE(client(ask));
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":1,"result":{"tools":[ {"name":"a"}]}})"), std::nullopt);
  EXPECT_FALSE(client(ask));
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}})"), std::nullopt);
}

TEST_F(ToolGateTest, AnAnswerThatNobodyAskedForIsDropped) {
  rules("[mcp]\nallow_tools = [\"a\"]\n");
  const std::string list = R"(,"result":{"tools":[{"name":"b"}]}})";
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":1)" + list), "");
  EXPECT_FALSE(client(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"));
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":"1")" + list), "") << "another id";
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":1,"result":{}})"), std::nullopt);
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":1,"result":{}})"), "") << "twice";
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":1,"method":"roots/list"})"), std::nullopt);
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","method":"notifications/progress"})"), std::nullopt);
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}})"),
            std::nullopt);
}

TEST_F(ToolGateTest, EachCallIsToldOfWithItsEnd) {
  rules("");
  EXPECT_FALSE(client(call("1", R"("a")")));
  EXPECT_FALSE(client(call("2", R"("b")")));
  EXPECT_FALSE(client(call("3", R"("c")")));
  EXPECT_FALSE(client(call("4", R"("d")")));
  EXPECT_FALSE(client(R"({"jsonrpc":"2.0","id":5,"method":"initialize"})"));
  manager_.advance(3ms);
  const std::string answer = R"({"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}})";
  EXPECT_FALSE(server(answer));
  EXPECT_FALSE(server(R"({"jsonrpc":"2.0","id":2,"result":{"isError":true}})"));
  EXPECT_FALSE(server(R"({"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"x"}})"));
  EXPECT_FALSE(
      client(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})"));
  gate_->finish();
  EXPECT_THAT(calls_.ends(), ElementsAre(End::ok, End::tool_error, End::protocol_error,
                                         End::cancelled, End::no_answer));
  EXPECT_EQ(calls_.all[0].method, "tools/call");
  EXPECT_EQ(calls_.all[0].tool, "a");
  EXPECT_EQ(calls_.all[0].request_bytes, call("1", R"("a")").size());
  EXPECT_EQ(calls_.all[0].response_bytes, answer.size());
  EXPECT_EQ(calls_.all[0].duration, 3ms);
  EXPECT_EQ(calls_.all[4].method, "initialize");
}

TEST_F(ToolGateTest, TheAnswerToACancelledRequestMayStillCome) {
  rules("[mcp]\nallow_tools = [\"a\"]\n");
  EXPECT_FALSE(client(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"));
  EXPECT_FALSE(
      client(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"));
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"b"}]}})"),
            R"({"jsonrpc":"2.0","id":1,"result":{"tools":[]}})");
  EXPECT_EQ(server(R"({"jsonrpc":"2.0","id":1,"result":{}})"), "");
}

TEST_F(ToolGateTest, RequestsWithoutAnswersDoNotPileUp) {
  rules("");
  bool refused = false;
  for (int id = 0; id < 70'000 && !refused; ++id) {
    refused = client(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"ping"})")
                  .has_value();
  }
  EXPECT_TRUE(refused);
}

TEST_F(ToolGateTest, NothingIsCalledThatCannotBeRecorded) {
  rules("");
  calls_.working = false;
  EXPECT_TRUE(client(call("1", R"("a")")));
  EXPECT_FALSE(client(R"({"jsonrpc":"2.0","id":1,"result":{}})")) << "an answer is no call";
}

TEST(ToolGate, WithoutRulesOrSinkEverythingPasses) {
  ToolGate gate(ToolPolicy(), real_clock(), nullptr);
  EXPECT_FALSE(gate.from_client(message(call("1", R"("anything")"))));
  EXPECT_FALSE(gate.from_server(message(R"({"jsonrpc":"2.0","id":1,"result":{"tools":[1]}})")));
}

}  // namespace
}  // namespace cordon::mcp
