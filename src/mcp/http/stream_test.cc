// Streams of events: how they look, and who is told about clients that are slow or gone.
#include <gmock/gmock.h>

#include <atomic>

#include "mcp/http/front_fixture.h"

namespace cordon::mcp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class HttpStreamTest : public HttpFrontTest {
 protected:
  // Every request is answered with a stream, which is kept.
  void start_streams(HttpOptions options = {}) {
    handler.script = [this](const Ask&, std::shared_ptr<Reply> reply) {
      reply->when_gone([this] { gone = true; });
      reply->begin_stream({{"Mcp-Session-Id", "s"}});
      stream = std::move(reply);
    };
    start(std::move(options));
  }

  std::shared_ptr<Reply> stream;
  std::atomic<bool> gone = false;
};

TEST_F(HttpStreamTest, SendsEventsAsTheyAreSent) {
  start_streams();
  HttpClient asks = client();
  asks.send(request("GET", "/a/mcp", "Accept: text/event-stream\r\n"));
  const std::string head = asks.until("\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const std::string_view line :
       {"Content-Type: text/event-stream\r\n", "Cache-Control: no-store\r\n",
        "X-Accel-Buffering: no\r\n", "Transfer-Encoding: chunked\r\n", "Mcp-Session-Id: s\r\n"}) {
    EXPECT_THAT(head, HasSubstr(line));
  }
  in_loop([&] { stream->send({.id = "1", .retry = std::chrono::seconds(2), .priming = true}); });
  EXPECT_EQ(asks.until("\n\n\r\n"), "19\r\nid: 1\nretry: 2000\ndata:\n\n\r\n");
  in_loop([&] { stream->send({.data = "{}"}); });
  EXPECT_EQ(asks.until("\n\n\r\n"), "a\r\ndata: {}\n\n\r\n");
  in_loop([&] { stream->send({.data = "{\r\n}\r"}); });
  EXPECT_EQ(asks.until("\n\n\r\n"), "1f\r\ndata: {\ndata: \ndata: }\ndata: \n\n\r\n");
  in_loop([&] { std::exchange(stream, {})->end_stream(); });
  EXPECT_EQ(asks.until("0\r\n\r\n"), "0\r\n\r\n");
  asks.send(request("GET", "/nowhere"));
  EXPECT_THAT(asks.answer(), StartsWith("HTTP/1.1 404")) << "the connection goes on";
  EXPECT_FALSE(gone);
}

TEST_F(HttpStreamTest, StreamsToAClientOfHttp10UntilItIsOver) {
  start_streams();
  HttpClient asks = client();
  asks.send("GET /a/mcp HTTP/1.0\r\nHost: localhost\r\n\r\n");
  (void)asks.until("\r\n\r\n");
  in_loop([&] {
    stream->send({.data = "{}"});
    std::exchange(stream, {})->end_stream();
  });
  EXPECT_EQ(asks.rest(), "data: {}\n\n");
}

TEST_F(HttpStreamTest, IsNeverSilentForLong) {
  start_streams({.limits = {.comment_time = std::chrono::milliseconds(50)}});
  HttpClient asks = client();
  asks.send(request("GET", "/a/mcp"));
  for (int i = 0; i < 3; ++i) (void)asks.until("3\r\n:\n\n\r\n");
}

TEST_F(HttpStreamTest, NoticesAtOnceThatTheClientIsGone) {
  start_streams();
  HttpClient asks = client();
  asks.send(request("GET", "/a/mcp"));
  (void)asks.until("\r\n\r\n");
  asks.close();
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
  EXPECT_EQ(in_loop([&] { return front->connections(); }), 0U);
  in_loop([&] {
    stream->send({.data = "nobody"});
    stream->end_stream();
    EXPECT_EQ(stream->pending(), 0U);
  });
}

TEST_F(HttpStreamTest, NoticesThatAClientDoesNotWaitForItsAnswer) {
  handler.script = [this](const Ask&, std::shared_ptr<Reply> reply) {
    reply->when_gone([this] { gone = true; });
    stream = std::move(reply);
  };
  start();
  HttpClient asks = client();
  asks.send(post("1"));
  ASSERT_TRUE(handler.wait_for(1));
  asks.close();
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
}

TEST_F(HttpStreamTest, GoesOnForAClientThatOnlySendsNoMore) {
  start_streams();
  HttpClient asks = client();
  asks.send(request("GET", "/a/mcp"));
  asks.end_input();
  (void)asks.until(":\n\n");
  in_loop([&] {
    stream->send({.data = "still"});
    std::exchange(stream, {})->end_stream();
  });
  EXPECT_THAT(asks.rest(), HasSubstr("data: still\n\n"));
  EXPECT_FALSE(gone);
}

TEST_F(HttpStreamTest, HoldsBackWhoSendsToASlowClient) {
  start_streams();
  HttpClient asks(address, 4096);
  asks.send(request("GET", "/a/mcp"));
  (void)asks.until("\r\n\r\n");
  const std::string event(100'000, 'x');
  std::size_t sent = 0;
  in_loop([&] {
    stream->when_drained([&] { sent += 1'000'000; });  // nothing is pending: at once
    return 0;
  });
  EXPECT_EQ(sent, 1'000'000U);
  sent = 0;
  // As long as the client takes nothing, what is pending grows with what is sent.
  ASSERT_TRUE(eventually([&] {
    stream->send({.data = event});
    ++sent;
    return stream->pending() > 3'000'000;
  }));
  std::atomic<bool> drained = false;
  in_loop([&] { stream->when_drained([&] { drained = true; }); });
  EXPECT_TRUE(in_loop([&] { return stream->pending() > 3'000'000; })) << "nobody has read";
  EXPECT_FALSE(drained);
  std::thread reader([&] {
    for (std::size_t i = 0; i < sent; ++i) (void)asks.until("x\n\n\r\n");
  });
  EXPECT_TRUE(eventually([&] { return drained.load(); }));
  reader.join();
  EXPECT_EQ(in_loop([&] { return stream->pending(); }), 0U);
}

TEST_F(HttpStreamTest, GivesUpOnAClientThatTakesNothing) {
  start_streams({.limits = {.stall_time = std::chrono::milliseconds(100)}});
  HttpClient asks(address, 4096);
  asks.send(request("GET", "/a/mcp"));
  (void)asks.until("\r\n\r\n");
  in_loop([&] { stream->send({.data = std::string(20'000'000, 'x')}); });
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
  EXPECT_EQ(in_loop([&] { return front->connections(); }), 0U);
}

TEST_F(HttpStreamTest, EndsStreamsThatTheirHandlerForgets) {
  start_streams();
  HttpClient asks = client();
  asks.send(request("GET", "/a/mcp"));
  (void)asks.until("\r\n\r\n");
  in_loop([&] { stream.reset(); });
  EXPECT_EQ(asks.rest(), "") << "without the last chunk, so that it can be told from an end";
}

}  // namespace
}  // namespace cordon::mcp
