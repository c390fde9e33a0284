// The pure parts of the HTTP front.
#include <gtest/gtest.h>

#include "mcp/http/parser.h"
#include "mcp/http/rate.h"
#include "mcp/http/route.h"
#include "mcp/http/text.h"

namespace cordon::mcp {
namespace {

TEST(HttpAcceptTest, SaysWhatAClientTakes) {
  EXPECT_TRUE(accepts("application/json", "application/json"));
  EXPECT_TRUE(accepts("text/html, Application/JSON;q=0.1", "application/json"));
  EXPECT_TRUE(accepts("*/*", "application/json"));
  EXPECT_TRUE(accepts("application/*", "application/json"));
  EXPECT_FALSE(accepts("text/*", "application/json"));
  EXPECT_FALSE(accepts("application/json;q=0", "application/json"));
  EXPECT_FALSE(accepts("*/*, application/json; q=0.000", "application/json"));
  EXPECT_TRUE(accepts("*/*;q=0, application/json", "application/json"));
  EXPECT_FALSE(accepts("", "application/json"));
  EXPECT_FALSE(accepts(",,;;,", "application/json"));
}

TEST(HttpRateTest, AllowsSoManyASecond) {
  HttpRate rate(2);
  TimePoint now{};
  EXPECT_FALSE(rate.take("a", now));
  EXPECT_FALSE(rate.take("a", now));
  EXPECT_EQ(rate.take("a", now), std::chrono::milliseconds(500));
  EXPECT_FALSE(rate.take("b", now)) << "each has its own";
  now += std::chrono::milliseconds(500);
  EXPECT_FALSE(rate.take("a", now));
  EXPECT_TRUE(rate.take("a", now));
  now += std::chrono::hours(1);
  EXPECT_FALSE(rate.take("a", now));
  EXPECT_FALSE(rate.take("a", now));
  EXPECT_TRUE(rate.take("a", now)) << "nothing is saved up beyond a second";
}

TEST(HttpRateTest, DoesNotGrowWithThoseWhoAsk) {
  HttpRate rate(1);
  TimePoint now{};
  for (int i = 0; i < 100'000; ++i) {
    (void)rate.take(std::to_string(i), now);
    now += std::chrono::milliseconds(1);
  }
  EXPECT_LE(rate.known(), 4096U);
  EXPECT_FALSE(HttpRate(0).take("a", now));
}

// However the bytes are cut into pieces, the request is the same.
TEST(HttpParserTest, IsTheSameInAnyPieces) {
  const std::string text =
      "POST /a/mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2;e=\"f\"\r\nde\r\n0\r\nT: u\r\n\r\nNEXT";
  for (std::size_t size = 1; size < text.size(); ++size) {
    HttpParser parser(8192, 100);
    std::string kept;
    std::size_t used = 0;
    for (std::size_t at = 0; at < text.size() && parser.state() != HttpParser::State::done;
         at += size) {
      kept += text.substr(at, size);
      for (std::size_t taken = 1; taken != 0 && parser.state() != HttpParser::State::done;) {
        taken = parser.take(kept);
        kept.erase(0, taken);
        used += taken;
      }
    }
    ASSERT_EQ(parser.state(), HttpParser::State::done) << size << parser.fault().why;
    EXPECT_EQ(parser.body(), "abcde");
    EXPECT_EQ(used, text.size() - 4);
    EXPECT_EQ(parser.head().fields.size(), 2U);
  }
}

TEST(HttpParserTest, ClaimedLengthsAreNotReserved) {
  HttpParser parser(8192, std::size_t{1} << 40);
  (void)parser.take("POST / HTTP/1.1\r\nContent-Length: 1000000000000\r\n\r\n");
  (void)parser.take("x");
  EXPECT_EQ(parser.state(), HttpParser::State::body);
  EXPECT_LT(parser.body().capacity(), 100'000U);
}

TEST(HttpParserTest, WhatIsBehindAChunksSizeHasALimit) {
  HttpParser parser(8192, 100);
  std::string text = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  text.erase(0, parser.take(text));
  text += "1;" + std::string(10'000, 'x');
  (void)parser.take(text);
  EXPECT_EQ(parser.state(), HttpParser::State::failed);
}

TEST(HttpTextTest, ARefusalIsAnErrorWithoutAnId) {
  const std::string text = refusal_text({.status = 403, .why = "no \"way\""}, {.close = true});
  EXPECT_NE(text.find("HTTP/1.1 403 Forbidden\r\n"), std::string::npos);
  EXPECT_NE(
      text.find(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no \"way\""}})"),
      std::string::npos);
}

}  // namespace
}  // namespace cordon::mcp
