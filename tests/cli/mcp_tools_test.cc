// What stands between an MCP server and its client: tools that may not be called, and the record
// of those that were.
#include <algorithm>
#include <boost/json.hpp>

#include "fixture.h"
#include "mcp_server_script.h"

namespace cordon::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string request(int id, const std::string& method, const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method +
         R"(","params":)" + params + "}\n";
}

std::string call(int id, const std::string& tool, const std::string& arguments = "{}") {
  return request(id, "tools/call", R"({"name":")" + tool + R"(","arguments":)" + arguments + "}");
}

class McpTools : public CliTest {
 protected:
  Ended converse(std::vector<std::string> options, const std::string& input,
                 const std::string& script = kServerScript) {
    std::vector<std::string> all = {"mcp", "run"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", "sh", "-c", script});
    return Command(all).input(input).run();
  }
};

TEST_F(McpTools, ADeniedToolIsNeitherListedNorCalled) {
  const std::string asked = request(1, "tools/list", R"({"cursor":"2"})") + call(2, "write");
  const Ended open = converse({}, asked);
  EXPECT_THAT(open.err, HasSubstr("tools/call")) << "without a rule the server is asked";
  EXPECT_THAT(open.out, HasSubstr("\"name\":\"write\""));

  const Ended ended = converse({"--deny-tool", "write"}, asked);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("tools/list"), Not(HasSubstr("tools/call"))));
  EXPECT_THAT(
      ended.out,
      AllOf(HasSubstr(R"({"jsonrpc":"2.0","id":1,"result":{"tools":[]}})"),
            HasSubstr(R"("id":2,"error":{"code":-32602,"message":"the tool write is denied)")));
}

TEST_F(McpTools, OnlyWhatIsAllowedIsListedAndCalled) {
  const Ended ended =
      converse({"--allow-tool", "re*"}, request(1, "tools/list") + call(2, "read", "{\"a\":1}") +
                                            call(3, "READ") + call(4, "other"));
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr(R"("nextCursor":"2","tools":[{"name":"read","inputSchema":{}}]})"),
                    HasSubstr("got {\\\"a\\\":1}"), HasSubstr(R"("id":3,"error")"),
                    HasSubstr(R"("id":4,"error")")));
  EXPECT_THAT(ended.err, AllOf(Not(HasSubstr("READ")), Not(HasSubstr("other"))));
}

TEST_F(McpTools, APolicyBoundsToolsArgumentsAndWhatTheCommandAsksFor) {
  const std::string site = file("site.toml",
                                "[mcp]\nallow_tools = [\"fail\"]\n[[mcp.tool]]\nname = \"read\"\n"
                                "arguments.path = {beneath = \"/srv\"}\n");
  const Ended ended =
      converse({"--policy", site}, call(1, "write") + call(2, "read", R"({"path":"/srv/a"})") +
                                       call(3, "read", R"({"path":"/srv/../etc"})"));
  EXPECT_THAT(ended.out, AllOf(HasSubstr(R"("id":1,"error")"), HasSubstr(R"("id":2,"result")"),
                               HasSubstr(R"("id":3,"error")"), HasSubstr("site.toml:5")));
  EXPECT_THAT(ended.err, Not(HasSubstr("/etc")));

  const Ended refused = converse({"--policy", site, "--allow-tool", "write"}, "");
  EXPECT_EQ(refused.status, 126);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("--allow-tool: the tool write"), HasSubstr("site.toml:2")));
}

TEST_F(McpTools, WhatIsNoMessageIsAnsweredAndNotPassedOn) {
  const Ended ended = converse(
      {"--deny-tool", "x"},
      "garbage\n\n" +
          std::string(R"({"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"})") + "\n" +
          R"({"jsonrpc":"1.0","id":2,"method":"ping"})" + "\n" + std::string(17 << 20, '[') + "\n" +
          request(3, "ping"));
  EXPECT_THAT(ended.err, AllOf(HasSubstr("\"id\":3"), Not(HasSubstr("garbage")),
                               Not(HasSubstr("tools/call")), Not(HasSubstr("1.0"))));
  EXPECT_THAT(ended.out, AllOf(HasSubstr("-32700"), HasSubstr("twice"), HasSubstr("16 MiB"),
                               HasSubstr(R"("id":2,"error")"), HasSubstr(R"("id":3,"error")")));
}

TEST_F(McpTools, OfSeveralMessagesAtOnceEachIsJudged) {
  const Ended ended =
      converse({"--deny-tool", "x"},
               R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}, )"
               R"({ "jsonrpc":"2.0","method":"a"}])"
               "\n"
               R"([ {"jsonrpc":"2.0","method":"b"} ])"
               "\n",
               "cat >&2");
  EXPECT_EQ(ended.err,
            "[{ \"jsonrpc\":\"2.0\",\"method\":\"a\"}]\n"
            "[ {\"jsonrpc\":\"2.0\",\"method\":\"b\"} ]\n");
  EXPECT_THAT(ended.out, AllOf(testing::StartsWith("[{"), HasSubstr(R"("id":1,"error")")));
}

TEST_F(McpTools, WhatPassesPassesByteForByteAlsoWhenItIsLarge) {
  const std::string odd =
      "{ \"params\" : {\"a\": 1.50, \"b\":\"\\u00e9\\/\"} , \"method\":\"x\",\t"
      "\"jsonrpc\":\"2.0\" } \r\n";
  const std::string large =
      R"({"jsonrpc":"2.0","method":"y","params":{"a":")" + std::string(12 << 20, 'a') + "\"}}\n";
  const std::string last = R"({"jsonrpc":"2.0","method":"z"})";  // without an end
  const Ended ended = converse({"--deny-tool", "x"}, odd + large + large + last, "cat >&2");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(ended.err == odd + large + large + last) << ended.err.size();
}

TEST_F(McpTools, NothingIsLostOnAServerThatIsSlowToRead) {
  std::string many;
  for (int id = 0; id < 50'000; ++id) many += request(id, "ping", R"({"pad":"aaaaaaaaaaaaaaaa"})");
  const Ended ended = converse({"--deny-tool", "x"}, many, "sleep 0.3; wc -l >&2");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "50000\n");
}

TEST_F(McpTools, AStubbornServerIsEndedWhenItsClientHangsUp) {
  auto running = Command({"mcp", "run", "--deny-tool", "x", "--grace", "50ms", "--", "sh", "-c",
                          "trap '' TERM INT HUP; (setsid sleep 1000 &); "
                          "echo '{\"jsonrpc\":\"2.0\",\"method\":\"up\"}'; "
                          "while :; do sleep 1; done"})
                     .keep_input_open()
                     .start();
  ASSERT_TRUE(running.reads("up"));
  running.types_all("");
  EXPECT_EQ(running.wait().status, 124);  // and nothing is left, says the fixture
}

TEST_F(McpTools, EachCallIsRecordedWithoutItsArguments) {
  const std::string log = path("log");
  const Ended ended = converse({"--audit", log, "--deny-tool", "write"},
                               call(1, "read", R"({"key":"canary"})") + call(2, "fail") +
                                   call(3, "write") + request(4, "no/such"));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("canary"));
  const Ended shown = cordon({"audit", "show", log, "--operation", "call"});
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("tools/call read: ok in "), HasSubstr("tools/call fail: tool_error"),
                    HasSubstr("tools/call write: refused"), HasSubstr("no/such: protocol_error"),
                    HasSubstr(" bytes asked, ")));
  EXPECT_THAT(cordon({"audit", "show", log, "--json"}).out,
              AllOf(HasSubstr(R"("outcome":{"method":"tools/call","tool":"read",)"),
                    Not(HasSubstr("canary"))));
  EXPECT_EQ(cordon({"audit", "verify", log}).status, 0);
}

TEST_F(McpTools, ACallWithoutAnAnswerIsRecordedToo) {
  const std::string log = path("log");
  const Ended ended = converse({"--audit", log},
                               call(1, "a") + call(2, "b") +
                                   R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                                   R"("params":{"requestId":2}})"
                                   "\n",
                               "cat >/dev/null");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(cordon({"audit", "show", log}).out,
              AllOf(HasSubstr("tools/call a: no_answer"), HasSubstr("tools/call b: cancelled")));
}

TEST_F(McpTools, NoCallPassesThatCannotBeRecorded) {
  const std::string log = path("log");
  auto running =
      Command({"mcp", "run", "--audit", log, "--", "sed", "-u", "s/\"method.*/\"result\":{}}/"})
          .keep_input_open()
          .start();
  running.types(call(1, "a"));
  ASSERT_TRUE(running.reads("\"id\":1,"));
  (void)file("log/head", "damaged");
  bool refused = false;
  for (int id = 2; id < 10'000 && !refused; ++id) {
    running.types(call(id, "a"));
    ASSERT_TRUE(running.reads("\"id\":" + std::to_string(id) + ","));
    refused = running.out().contains("cannot be recorded");
  }
  EXPECT_TRUE(refused);
  running.types_all("");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("not everything was recorded"));
}

TEST_F(McpTools, ManyCallsAreAllRecordedInOrder) {
  const std::string log = path("log");
  std::string asked;
  for (int id = 1; id <= 3000; ++id) asked += request(id, "ping");
  const Ended ended = converse({"--audit", log}, asked, "sed -u 's/\"method.*/\"result\":{}}/'");
  EXPECT_EQ(ended.status, 0) << ended.err;
  const std::string shown = cordon({"audit", "show", log, "--operation", "call", "--json"}).out;
  EXPECT_EQ(std::ranges::count(shown, '\n'), 3000);
  EXPECT_EQ(cordon({"audit", "verify", log}).status, 0);
}

}  // namespace
}  // namespace cordon::cli
