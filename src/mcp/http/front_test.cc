#include <gmock/gmock.h>
#include <sys/resource.h>

#include "mcp/http/front_fixture.h"

namespace cordon::mcp {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(HttpFrontTest, AnswersARequest) {
  start();
  HttpClient asks = client();
  asks.send(post("1", "MCP-Session-Id: x y\r\nLast-Event-ID: 7\r\nX-Other: no\r\n"));
  const std::string answer = asks.answer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(answer, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("Access-Control")));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n{\"got\":\"1\"}"));
  const Ask ask = handler.asks().at(0);
  EXPECT_EQ(ask.server, "a");
  EXPECT_EQ(ask.body, "1");
  EXPECT_TRUE(ask.takes_json);
  EXPECT_TRUE(ask.takes_stream);
  EXPECT_EQ(ask.headers, (Headers{{"mcp-session-id", "x y"}, {"last-event-id", "7"}}));
}

TEST_F(HttpFrontTest, KeepsAConnectionForFurtherRequests) {
  start();
  HttpClient asks = client();
  for (int i = 0; i < 100; ++i) {
    asks.send(post(std::to_string(i)));
    EXPECT_THAT(asks.answer(), HasSubstr("{\"got\":\"" + std::to_string(i) + "\"}"));
  }
  EXPECT_EQ(in_loop([&] { return front->connections(); }), 1U);
}

TEST_F(HttpFrontTest, AnswersPipelinedRequestsInTheirOrder) {
  std::vector<std::shared_ptr<Reply>> held;
  handler.script = [&](const Ask& ask, std::shared_ptr<Reply> reply) {
    if (ask.body == "0") return held.push_back(std::move(reply));
    reply->answer({.body = "<" + ask.body + ">"});
  };
  start();
  HttpClient asks = client();
  std::string all;
  for (int i = 0; i < 2000; ++i) all += post(std::to_string(i));
  std::thread sender([&] { asks.send(all); });
  ASSERT_TRUE(handler.wait_for(1));
  EXPECT_TRUE(asks.silent(std::chrono::milliseconds(50)));
  EXPECT_EQ(handler.asks().size(), 1U) << "the next one waits for the answer of the first";
  in_loop([&] { std::exchange(held, {}).front()->answer({.body = "<0>"}); });
  for (int i = 0; i < 2000; ++i) {
    ASSERT_THAT(asks.answer(), testing::EndsWith("<" + std::to_string(i) + ">"));
  }
  sender.join();
}

TEST_F(HttpFrontTest, TakesARequestByteByByte) {
  start();
  HttpClient asks = client();
  for (const char c : "\r\n" + post("slow") + request("GET", "/a/mcp")) {
    asks.send({&c, 1});
  }
  EXPECT_THAT(asks.answer(), HasSubstr("slow"));
  EXPECT_THAT(asks.answer(), HasSubstr("{\"got\":\"\"}"));
}

TEST_F(HttpFrontTest, TakesABodyInChunks) {
  start();
  HttpClient asks = client();
  asks.send(
      "POST /a/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json; charset=utf-8\r\n"
      "Transfer-Encoding: chunked\r\n\r\n"
      "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nmcp-session-id: trailer\r\n\r\n" +
      post("next"));
  EXPECT_THAT(asks.answer(), HasSubstr("abc0123456789"));
  EXPECT_THAT(asks.answer(), HasSubstr("next"));
  EXPECT_TRUE(handler.asks().at(0).headers.empty()) << "what is behind the body is no header";
}

TEST_F(HttpFrontTest, TakesEveryWayToWriteAPath) {
  start();
  HttpClient asks = client();
  for (const std::string_view target :
       {"/a/mcp", "/a/mcp?x=/y", "/%61/m%63p", "http://127.0.0.1:1/a/mcp"}) {
    asks.send(request("GET", target));
    EXPECT_THAT(asks.answer(), StartsWith("HTTP/1.1 200")) << target;
  }
  asks.send(request("DELETE", "/b%20c/mcp"));
  EXPECT_THAT(asks.answer(), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(handler.asks().back().server, "b c");
  EXPECT_EQ(handler.asks().back().verb, Verb::remove);
}

TEST_F(HttpFrontTest, SaysContinueToAClientThatWaitsForIt) {
  start();
  HttpClient asks = client();
  asks.send(
      "POST /a/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(asks.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  asks.send("hi");
  EXPECT_THAT(asks.answer(), HasSubstr("{\"got\":\"hi\"}"));
}

TEST_F(HttpFrontTest, AnswersAClientOfHttp10AndCloses) {
  start();
  HttpClient asks = client();
  asks.send("GET /a/mcp HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
  const std::string answer = asks.rest();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpFrontTest, ClosesWhenTheClientAsksForIt) {
  start();
  HttpClient asks = client();
  asks.send(post("1", "Connection: close\r\n"));
  EXPECT_THAT(asks.rest(), HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpFrontTest, AnswersAClientThatSendsNoMore) {
  std::shared_ptr<Reply> held;
  handler.script = [&](const Ask&, std::shared_ptr<Reply> reply) { held = std::move(reply); };
  start();
  HttpClient asks = client();
  asks.send(post("1"));
  asks.end_input();
  ASSERT_TRUE(handler.wait_for(1));
  EXPECT_EQ(asks.until("\r\n\r\n"), "HTTP/1.1 102 Processing\r\n\r\n");
  in_loop([&] { std::exchange(held, {})->answer({.body = "late"}); });
  EXPECT_THAT(asks.rest(), testing::EndsWith("late"));
}

TEST_F(HttpFrontTest, AnswersForAHandlerThatDoesNot) {
  handler.script = [](const Ask&, const std::shared_ptr<Reply>&) {};
  start();
  HttpClient asks = client();
  asks.send(post("1"));
  EXPECT_THAT(asks.rest(), StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpFrontTest, LeavesOutHeadersThatWouldBeMore) {
  handler.script = [](const Ask&, const std::shared_ptr<Reply>& reply) {
    reply->answer({.status = 202, .headers = {{"A", "b\r\nEvil: yes"}, {"Mcp-Session-Id", "s"}}});
  };
  start();
  HttpClient asks = client();
  asks.send(post("1"));
  const std::string answer = asks.answer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 202 Accepted\r\n"));
  EXPECT_THAT(answer, HasSubstr("Mcp-Session-Id: s\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("Evil")));
}

TEST_F(HttpFrontTest, ServesAThousandConnectionsAtOnce) {
  std::vector<std::shared_ptr<Reply>> held;
  handler.script = [&](const Ask&, std::shared_ptr<Reply> reply) {
    held.push_back(std::move(reply));
  };
  start();
  constexpr std::size_t kMany = 1000;
  rlimit files{};  // two descriptors each, and the usual limit is 1024
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  ASSERT_GE(files.rlim_max, 2 * kMany + 100);
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, 2 * kMany + 100);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (std::size_t i = 0; i < kMany; ++i) {
    clients.push_back(std::make_unique<HttpClient>(address));
    clients.back()->send(post(std::to_string(i)));
  }
  ASSERT_TRUE(handler.wait_for(kMany));
  in_loop([&] {
    for (const auto& reply : held) reply->answer({.body = "all"});
    held.clear();
  });
  for (const auto& each : clients) ASSERT_THAT(each->answer(), testing::EndsWith("all"));
  clients.clear();
  EXPECT_TRUE(eventually([&] { return front->connections() == 0; }));
}

TEST_F(HttpFrontTest, StopsAfterTheAnswersThatAreOwed) {
  std::shared_ptr<Reply> held;
  handler.script = [&](const Ask&, std::shared_ptr<Reply> reply) { held = std::move(reply); };
  start();
  HttpClient waits = client();
  waits.send(post("1"));
  HttpClient idle = client();
  ASSERT_TRUE(handler.wait_for(1));
  ASSERT_TRUE(eventually([&] { return front->connections() == 2; }));
  in_loop([&] { front->stop(); });
  EXPECT_EQ(idle.rest(), "");
  in_loop([&] { std::exchange(held, {})->answer({.body = "last"}); });
  EXPECT_THAT(waits.rest(), testing::EndsWith("last"));
}

}  // namespace
}  // namespace cordon::mcp
