// What does not come to the handler, and how it is answered.
#include <gmock/gmock.h>

#include "mcp/http/front_fixture.h"

namespace cordon::mcp {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HttpRefusalTest : public HttpFrontTest {
 protected:
  // On a connection of its own.
  [[nodiscard]] std::string answer_to(std::string_view bytes) const {
    HttpClient asks = client();
    asks.send(bytes);
    asks.end_input();
    return asks.rest();
  }
  // Refused with this status, and the connection is over: nothing behind it is a request.
  void expect_end(std::string_view bytes, std::string_view status) {
    HttpClient asks = client();
    asks.send(std::string(bytes) + request("GET", "/a/mcp"));
    const std::string answer = asks.rest();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::string(status))) << bytes;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(answer, HasSubstr(R"({"jsonrpc":"2.0","id":null,"error":{"code":)"));
    EXPECT_EQ(answer.find("\r\nHTTP/1.1 "), std::string::npos) << answer;
    EXPECT_TRUE(handler.asks().empty());
  }
};

const std::vector<std::string> kMethods = {"GET",  "POST",    "DELETE", "PUT",     "PATCH",
                                           "HEAD", "OPTIONS", "TRACE",  "CONNECT", "BREW"};
const std::vector<std::string> kTargets = {"/a/mcp",
                                           "/b%20c/mcp",
                                           "/",
                                           "/mcp",
                                           "/nowhere",
                                           "/a/mcp/",
                                           "/a/mcp?x",
                                           "/%2e%2e/mcp",
                                           "*",
                                           "/health",
                                           "http://localhost/a/mcp"};

TEST_F(HttpRefusalTest, ForeignHostAndOriginAreForbiddenOnEveryRouteByEveryMethod) {
  start({.token = "secret"});
  const std::vector<std::string> foreign = {
      "Host: evil.example\r\n",
      "Host: evil.example:80\r\n",
      "Host: localhost.evil.example\r\n",
      "Host: 127.0.0.1.evil.example\r\n",
      "Host: 128.0.0.1\r\n",
      "Host: 0.0.0.0\r\n",
      "Host: [::]\r\n",
      "Host: 127.1\r\n",
      "Host: localhost:\r\n",
      "Host: user@localhost\r\n",
      "Host: \r\n",
      "Host: localhost\r\nOrigin: https://evil.example\r\n",
      "Host: localhost\r\nOrigin: null\r\n",
      "Host: localhost\r\nOrigin: http://localhost.evil.example\r\n",
      "Host: localhost\r\nOrigin: http://localhost/\r\n",
      "Host: localhost\r\nOrigin: file://\r\n",
      "Host: localhost\r\nOrigin: \r\n",
  };
  std::size_t asked = 0;
  for (const std::string& method : kMethods) {
    for (const std::string& target : kTargets) {
      HttpClient asks = client();
      for (const std::string& who : foreign) {
        asks.send(method + " " + target + " HTTP/1.1\r\n" + who +
                  "Authorization: Bearer secret\r\n\r\n");
        const std::string answer = method == "HEAD" ? asks.until("\r\n\r\n") : asks.answer();
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 ")) << method << " " << target << " " << who;
        EXPECT_THAT(answer, Not(HasSubstr("Access-Control-Allow")));
        ++asked;
      }
    }
  }
  EXPECT_EQ(asked, kMethods.size() * kTargets.size() * foreign.size());
  EXPECT_TRUE(handler.asks().empty());
}

TEST_F(HttpRefusalTest, HostsOfThisHostAndAllowedOnesPass) {
  start({.hosts = {"Proxy.Example", "other.example:8443"}, .origins = {"https://App.example"}});
  for (const std::string_view who :
       {"Host: localhost\r\n", "Host: LOCALHOST:1\r\n", "Host: 127.0.0.1:8808\r\n",
        "Host: 127.8.9.10\r\n", "Host: [::1]:1\r\n", "Host: proxy.example\r\n",
        "Host: proxy.example:9\r\n", "Host: other.example:8443\r\n",
        "Host: localhost\r\nOrigin: http://localhost:3000\r\n",
        "Host: localhost\r\nOrigin: https://127.0.0.1\r\n",
        "Host: localhost\r\nOrigin: https://app.example\r\n"}) {
    const std::string answer = answer_to("GET /a/mcp HTTP/1.1\r\n" + std::string(who) + "\r\n");
    EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 ")) << who;
  }
  EXPECT_THAT(answer_to("GET /a/mcp HTTP/1.1\r\nHost: other.example\r\n\r\n"),
              StartsWith("HTTP/1.1 403 "));
}

TEST_F(HttpRefusalTest, TheHostInTheTargetCountsToo) {
  start();
  EXPECT_THAT(answer_to(request("GET", "http://evil.example/a/mcp")), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(answer_to(request("GET", "http://localhost@evil.example/a/mcp")),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(answer_to("GET /a/mcp HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to("GET /a/mcp HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(answer_to("GET /a/mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpRefusalTest, WithoutTheTokenNothingIsAnswered) {
  start({.token = "secret"});
  for (const std::string& method : kMethods) {
    for (const std::string& target : kTargets) {
      for (const std::string_view with :
           {"", "Authorization: Bearer\r\n", "Authorization: Bearer wrong\r\n",
            "Authorization: Bearer secret2\r\n", "Authorization: Basic secret\r\n",
            "Authorization: Bearer secret\r\nAuthorization: Bearer secret\r\n"}) {
        const std::string answer = answer_to(
            method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
            std::string(with) + "\r\n");
        ASSERT_THAT(answer, StartsWith("HTTP/1.1 401 ")) << method << " " << target << " " << with;
        ASSERT_THAT(answer, HasSubstr("WWW-Authenticate: Bearer realm=\"cordon\""));
      }
    }
  }
  EXPECT_TRUE(handler.asks().empty());
  EXPECT_THAT(answer_to(post("1", "Authorization: bearer secret\r\n")),
              HasSubstr("HTTP/1.1 200 OK"));
}

TEST_F(HttpRefusalTest, OnlyPagesThatWereAllowedMayReadAnswers) {
  start({.origins = {"https://app.example"}, .token = "secret"});
  const std::string asked =
      "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n";
  const std::string allowed =
      answer_to(request("OPTIONS", "/a/mcp", "Origin: https://app.example\r\n" + asked));
  EXPECT_THAT(allowed, StartsWith("HTTP/1.1 204 "));
  EXPECT_THAT(allowed, HasSubstr("Access-Control-Allow-Origin: https://app.example\r\n"));
  EXPECT_THAT(allowed, HasSubstr("Access-Control-Allow-Methods: POST, GET, DELETE\r\n"));
  EXPECT_THAT(allowed, HasSubstr("Vary: Origin\r\n"));
  EXPECT_THAT(allowed, Not(HasSubstr("Content-Length")));
  const std::string local = answer_to(
      request("OPTIONS", "/a/mcp",
              "Origin: http://localhost:3000\r\nAuthorization: Bearer secret\r\n" + asked));
  EXPECT_THAT(local, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(local, Not(HasSubstr("Access-Control-Allow")));
  EXPECT_THAT(
      answer_to(post("1", "Origin: https://app.example\r\nAuthorization: Bearer secret\r\n")),
      HasSubstr("Access-Control-Allow-Origin: https://app.example\r\n"));
}

TEST_F(HttpRefusalTest, UnknownPathsAndMethodsAreTold) {
  start();
  for (const std::string_view target :
       {"/", "/mcp", "/a", "/a/", "/a/mcp/", "/a/mcp/x", "/c/mcp", "/a/MCP", "//mcp", "/a//mcp",
        "/a%2fmcp", "/%00a/mcp", "/%6/mcp", "/%zz/mcp", "*", "a/mcp"}) {
    EXPECT_THAT(answer_to(request("GET", target)), StartsWith("HTTP/1.1 404 ")) << target;
  }
  for (const std::string_view method : {"PUT", "PATCH", "OPTIONS", "BREW", "get"}) {
    const std::string answer = answer_to(request(method, "/a/mcp"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405 ")) << method;
    EXPECT_THAT(answer, HasSubstr("Allow: POST, GET, DELETE\r\n"));
  }
  const std::string head = answer_to(request("HEAD", "/a/mcp"));
  EXPECT_THAT(head, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(head, testing::EndsWith("\r\n\r\n")) << "HEAD has no body";
}

TEST_F(HttpRefusalTest, TypesThatAreNotJsonAreRefused) {
  start();
  for (const std::string_view type :
       {"", "Content-Type: text/plain\r\n", "Content-Type: application/jsonx\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n"}) {
    expect_end("POST /a/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n" +
                   std::string(type) + "\r\n{}",
               "415 ");
  }
  expect_end(post("{}", "Content-Encoding: gzip\r\n"), "415 ");
  expect_end(post("{}", "Expect: miracles\r\n"), "417 ");
}

TEST_F(HttpRefusalTest, HeadersThatAreThereTwiceAreRefused) {
  start();
  for (const std::string_view name : {"Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method",
                                      "Mcp-Anything", "Last-Event-ID", "Content-Type"}) {
    const std::string line = std::string(name) + ": application/json\r\n";
    expect_end(post("{}", line + line), "400 ");
  }
}

TEST_F(HttpRefusalTest, ARequestThatTwoReadersUnderstandInTwoWaysIsRefused) {
  start();
  const std::string head =
      "POST /a/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  for (const std::string_view way :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "Content-Length: 2, 2\r\n\r\n{}",
        "Content-Length: +2\r\n\r\n{}",
        "Content-Length: 0x2\r\n\r\n{}",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999999\r\n\r\n",
        "Content-Length : 2\r\n\r\n{}",
        "Transfer-Encoding: gzip\r\n\r\n{}",
        "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: identity\r\n\r\n{}",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        "X: a\nContent-Length: 2\r\n\r\n{}",
        "X\r\n\r\n",
        "X: \x01\r\n\r\n"}) {
    expect_end(head + std::string(way), "400 ");
  }
  expect_end(
      "POST /a/mcp HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "400 ");
  expect_end("GARBAGE\r\n\r\n", "400 ");
  expect_end("\x16\x03\x01\x02\x01\r\n\r\n", "400 ");
  expect_end("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 ");
}

TEST_F(HttpRefusalTest, ALargeBodyIsRefusedBeforeItIsSent) {
  start({.limits = {.body = 1000}});
  expect_end(
      "POST /a/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n",
      "413 ");
  expect_end(
      "POST /a/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3e9\r\n",
      "413 ");
  expect_end(
      "POST /a/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3e8\r\n" +
          std::string(1000, 'x') + "\r\n1\r\n",
      "413 ");
  EXPECT_THAT(answer_to(post(std::string(1000, 'x'))), HasSubstr("HTTP/1.1 200 "));
}

TEST_F(HttpRefusalTest, AllBodiesTogetherHaveALimit) {
  start({.limits = {.body = 1000, .bodies = 1500}});
  const std::string part = post(std::string(1000, 'x'));
  HttpClient first = client();
  first.send(std::string_view(part).substr(0, part.size() - 1));
  ASSERT_TRUE(eventually([&] { return front->connections() == 1; }));
  EXPECT_THAT(answer_to(post(std::string(600, 'y'))), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer_to(post(std::string(500, 'y'))), HasSubstr("HTTP/1.1 200 "));
  first.send("x");
  EXPECT_THAT(first.answer(), HasSubstr("HTTP/1.1 200 "));
  EXPECT_THAT(answer_to(post(std::string(1000, 'z'))), HasSubstr("HTTP/1.1 200 "));
}

TEST_F(HttpRefusalTest, ALargeHeaderIsRefused) {
  start({.limits = {.head = 1000}});
  expect_end(request("GET", "/a/mcp", "X: " + std::string(1000, 'x') + "\r\n"), "431 ");
  expect_end(request("GET", "/" + std::string(1000, 'x')), "431 ");
  std::string many;
  for (int i = 0; i < 101; ++i) many += "X: y\r\n";
  stop();
}

TEST_F(HttpRefusalTest, ManyHeadersAreRefused) {
  start();
  std::string many;
  for (int i = 0; i < 101; ++i) many += "X: y\r\n";
  expect_end(request("GET", "/a/mcp", many), "431 ");
}

TEST_F(HttpRefusalTest, MoreConnectionsThanAllowedAreTurnedAway) {
  start({.limits = {.connections = 2}});
  HttpClient one = client();
  HttpClient other = client();
  ASSERT_TRUE(eventually([&] { return front->connections() == 2; }));
  HttpClient third = client();
  const std::string answer = third.rest();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
  third.close();
  one.send(post("1"));
  EXPECT_THAT(one.answer(), HasSubstr("HTTP/1.1 200 ")) << "nobody else is affected";
  other.close();
  ASSERT_TRUE(eventually([&] { return front->connections() == 1; }));
  EXPECT_THAT(answer_to(post("1")), HasSubstr("HTTP/1.1 200 "));
}

TEST_F(HttpRefusalTest, TooManyRequestsAreToldWhenToComeAgain) {
  start({.limits = {.requests_per_second = 3}});
  HttpClient asks = client();
  for (int i = 0; i < 3; ++i) {
    asks.send(post("1"));
    EXPECT_THAT(asks.answer(), StartsWith("HTTP/1.1 200 "));
  }
  asks.send(request("GET", "/a/mcp"));
  const std::string answer = asks.answer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
  asks.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_THAT(asks.answer(), StartsWith("HTTP/1.1 403 "));
}

TEST_F(HttpRefusalTest, WhoSendsTooSlowlyIsTurnedAway) {
  start({.limits = {.head_time = std::chrono::milliseconds(100),
                    .body_time = std::chrono::milliseconds(100),
                    .idle_time = std::chrono::milliseconds(100)}});
  HttpClient silent = client();
  EXPECT_EQ(silent.rest(), "");
  HttpClient head = client();
  head.send("GET /a/mcp HT");
  EXPECT_THAT(head.rest(), StartsWith("HTTP/1.1 408 "));
  HttpClient body = client();
  body.send(post("12").substr(0, post("12").size() - 1));
  EXPECT_THAT(body.rest(), StartsWith("HTTP/1.1 408 "));
  HttpClient idle = client();
  idle.send(post("1"));
  EXPECT_THAT(idle.rest(), HasSubstr("HTTP/1.1 200 ")) << "and then nothing: the end";
  EXPECT_TRUE(eventually([&] { return front->connections() == 0; }));
}

// Bytes come all the time, and never enough.
TEST_F(HttpRefusalTest, DrippingDoesNotKeepAConnectionOpen) {
  start({.limits = {.head_time = std::chrono::milliseconds(200)}});
  HttpClient drips = client();
  drips.send("GET /a/mcp HTTP/1.1\r\nX: ");
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (drips.silent(std::chrono::milliseconds(10)) && std::chrono::steady_clock::now() < end) {
    drips.send("x");
  }
  EXPECT_THAT(drips.rest(), StartsWith("HTTP/1.1 408 "));
}

TEST_F(HttpRefusalTest, AClientThatGoesInTheMiddleLeavesNothing) {
  start();
  const std::string whole = post("123456");
  for (std::size_t i = 0; i < whole.size(); i += 7) {
    HttpClient asks = client();
    asks.send(std::string_view(whole).substr(0, i));
    asks.close();
  }
  EXPECT_TRUE(eventually([&] { return front->connections() == 0; }));
  EXPECT_TRUE(handler.asks().empty());
}

}  // namespace
}  // namespace cordon::mcp
