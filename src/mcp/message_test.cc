#include "mcp/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace cordon::mcp {
namespace {

using testing::HasSubstr;
using Kind = Message::Kind;

Fault fault_of(std::string_view text) {
  const auto parsed = parse_one(text);
  EXPECT_FALSE(parsed) << text;
  return parsed ? Fault{} : parsed.error();
}

TEST(Message, RequestHasIdMethodAndParams) {
  const auto message =
      parse_one(R"( {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}} )");
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->kind(), Kind::request);
  EXPECT_TRUE(message->asks());
  EXPECT_EQ(message->id(), Id::number(7));
  EXPECT_EQ(message->method(), "tools/call");
  EXPECT_EQ(message->params(), R"({"name":"x"})");
  EXPECT_EQ(message->text(),
            R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}})");
}

TEST(Message, NotificationHasNoId) {
  const auto message = parse_one(R"({"method":"notifications/initialized","jsonrpc":"2.0"})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind(), Kind::notification);
  EXPECT_EQ(message->id(), std::nullopt);
  EXPECT_EQ(message->params(), "");
}

TEST(Message, ResponseHasAResult) {
  const auto message = parse_one(R"({"jsonrpc":"2.0","id":"a","result":{"x":[1]}})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind(), Kind::response);
  EXPECT_TRUE(message->answers());
  EXPECT_EQ(message->result(), R"({"x":[1]})");
}

TEST(Message, ErrorMayBeAboutSomethingThatCouldNotBeRead) {
  for (const char* const id : {R"("id":null,)", "", R"("id":3,)"}) {
    const auto message = parse_one(std::string(R"({"jsonrpc":"2.0",)") + id +
                                   R"("error":{"code":-32700,"message":"no"}})");
    ASSERT_TRUE(message) << id;
    EXPECT_EQ(message->kind(), Kind::error);
    EXPECT_EQ(message->error(), R"({"code":-32700,"message":"no"})");
  }
}

TEST(Message, IsRefusedWithTheIdOfTheRequestThatItWasMeantToBe) {
  const Fault fault = fault_of(R"({"jsonrpc":"1.0","id":"q","method":"x"})");
  EXPECT_EQ(fault.code, kInvalidRequest);
  EXPECT_EQ(fault.id, Id::text("q"));
  EXPECT_THAT(fault.message, HasSubstr("2.0"));
}

TEST(Message, IsRefusedIfItIsNone) {
  for (const char* const text :
       {"1",
        "\"x\"",
        "null",
        "{}",
        R"({"jsonrpc":"2.0"})",
        R"({"id":1,"method":"x"})",
        R"({"jsonrpc":2.0,"id":1,"method":"x"})",
        R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":null,"method":"x"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"x"})",
        R"({"jsonrpc":"2.0","id":1e2,"method":"x"})",
        R"({"jsonrpc":"2.0","id":[1],"method":"x"})",
        R"({"jsonrpc":"2.0","id":true,"method":"x"})",
        R"({"jsonrpc":"2.0","id":1,"method":7})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","params":[1]})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","result":{}})",
        R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}})",
        R"({"jsonrpc":"2.0","result":{}})",
        R"({"jsonrpc":"2.0","id":1,"result":7})",
        R"({"jsonrpc":"2.0","id":null,"result":{}})",
        R"({"jsonrpc":"2.0","id":1,"error":{}})",
        R"({"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}})",
        R"({"jsonrpc":"2.0","id":1,"error":"no"})"}) {
    EXPECT_EQ(fault_of(text).code, kInvalidRequest) << text;
  }
  EXPECT_EQ(fault_of("{\"jsonrpc\":").code, kParseError);
  EXPECT_EQ(fault_of(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"x"})").code, kParseError);
  EXPECT_EQ(
      fault_of(R"({"jsonrpc":"2.0","method":"x","id":")" + std::string(2000, 'x') + "\"}").code,
      kInvalidRequest);
}

TEST(Message, IsPassedOnAsItCameExceptForItsId) {
  const auto message = parse_one(
      "{ \"id\" : \"a\\u0062\",\t\"jsonrpc\":\"2.0\", \"method\" :\"x\" , \"z\" : 1.50 }");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->with_id(Id::number(41)),
            "{ \"id\" : 41,\t\"jsonrpc\":\"2.0\", \"method\" :\"x\" , \"z\" : 1.50 }");
  EXPECT_EQ(message->with_id(*message->id()), message->text());
}

TEST(Ids, AreTheSameIfTheyMeanTheSame) {
  EXPECT_EQ(Id::read("\"ab\""), Id::read("\"a\\u0062\""));
  EXPECT_NE(Id::read("1"), Id::read("\"1\""));
  EXPECT_EQ(Id::read("-0"), Id::read("0"));
  EXPECT_EQ(Id::text("ab"), *Id::read("\"ab\""));
  EXPECT_EQ(Id::number(-5), *Id::read("-5"));
  EXPECT_EQ(Id::read("\"a\\u0062\"")->json(), "\"a\\u0062\"");
  std::map<Id, int> known{{Id::number(1), 1}, {Id::text("1"), 2}};
  EXPECT_EQ(known.at(*Id::read("1")), 1);
  EXPECT_EQ(known.at(*Id::read("\"\\u0031\"")), 2);
}

TEST(Batch, IsRefusedWhereTheRevisionHasNone) {
  const auto parsed = parse(R"([{"jsonrpc":"2.0","method":"x"}])");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, kInvalidRequest);
}

TEST(Batch, HoldsMessagesAndWhatIsNone) {
  const auto parsed =
      parse(R"([{"jsonrpc":"2.0","method":"x","id":1}, 7 ,{"jsonrpc":"2.0","method":"y"}])",
            {.max_batch = 3});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->batch);
  ASSERT_EQ(parsed->messages.size(), 3U);
  EXPECT_EQ(parsed->messages[0]->method(), "x");
  EXPECT_EQ(parsed->messages[0]->with_id(Id::number(2)),
            R"({"jsonrpc":"2.0","method":"x","id":2})");
  EXPECT_EQ(parsed->messages[1].error().code, kInvalidRequest);
  EXPECT_EQ(parsed->messages[2]->text(), R"({"jsonrpc":"2.0","method":"y"})");
}

TEST(Batch, IsNeitherEmptyNorTooLarge) {
  EXPECT_FALSE(parse("[]", {.max_batch = 3}));
  EXPECT_FALSE(parse("[1,2,3,4]", {.max_batch = 3}));
  EXPECT_TRUE(parse("[1,2,3]", {.max_batch = 3}));
}

TEST(Made, IsReadBack) {
  const auto request = parse_one(make_request(Id::text("a\"b"), "m/\n", R"({"x":1})"));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->id(), Id::text("a\"b"));
  EXPECT_EQ(request->method(), "m/\n");
  EXPECT_EQ(request->params(), R"({"x":1})");
  EXPECT_EQ(make_notification("n"), R"({"jsonrpc":"2.0","method":"n"})");
  EXPECT_EQ(make_response(Id::number(1), "{}"), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(make_error(Fault{kParseError, "no", {}}),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}})");
  const auto error = parse_one(make_error(Id::number(4), kInternalError, "why", "[1]"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->id(), Id::number(4));
  EXPECT_EQ(error->error(), R"({"code":-32603,"message":"why","data":[1]})");
}

}  // namespace
}  // namespace cordon::mcp
