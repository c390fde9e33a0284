#include "mcp/http/connection.h"

#include <poll.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <chrono>
#include <utility>

#include "mcp/http/reply.h"
#include "mcp/http/route.h"
#include "mcp/http/service.h"

namespace cordon::mcp {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kReadAhead = std::size_t{16} << 10;   // of requests behind the current one
constexpr std::size_t kMostDropped = std::size_t{1} << 20;  // while lingering
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kProcessing = "HTTP/1.1 102 Processing\r\n\r\n";

bool would_block(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again ||
         error == asio::error::interrupted;
}

// Nobody is at the other end any more.
bool is_dead(int fd) {
  pollfd watched{.fd = fd, .events = 0, .revents = 0};
  return ::poll(&watched, 1, 0) != 0 && (watched.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

std::string whole_seconds(Duration time) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(time).count();
  return std::to_string(std::max<std::int64_t>(seconds, 1));
}

}  // namespace

HttpConnection::HttpConnection(HttpService& service, Socket socket, std::string peer)
    : service_(service), socket_(std::move(socket)), peer_(std::move(peer)) {}

void HttpConnection::begin() {
  deadline_ = service_.now() + service_.limits.head_time;
  await_input();
}

void HttpConnection::turn_away() {
  deadline_ = service_.now() + service_.limits.head_time;
  refuse({503, "too many connections are open: try again later", {{"Retry-After", "1"}}});
}

bool HttpConnection::owes_answer() const {
  return phase_ == Phase::handling || phase_ == Phase::streaming;
}

bool HttpConnection::current(std::uint64_t exchange) const {
  return exchange == exchange_ && owes_answer();
}

HttpManner HttpConnection::manner() {
  return {.close = close_after_,
          .without_body = head_only_,
          .chunked = http_1_1_,
          .reader = reader_,
          .date = service_.date()};
}

// --- what comes in

void HttpConnection::await_input() {
  if (reading_ || phase_ == Phase::closed || input_ended_) return;
  const bool later = owes_answer() || phase_ == Phase::finishing;
  if (later && input_.size() >= kReadAhead) return await_error();
  reading_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
    self->reading_ = false;
    if (self->phase_ == Phase::closed) return;
    if (error) return self->end();
    self->on_input();
  });
}

// For the time in which nothing is read.
void HttpConnection::await_error() {
  if (watching_error_ || phase_ == Phase::closed) return;
  watching_error_ = true;
  socket_.async_wait(Socket::wait_error, [self = shared_from_this()](const error_code& error) {
    self->watching_error_ = false;
    if (self->phase_ == Phase::closed) return;
    // Not awaited again when it was something else, such as urgent data: that would go on for ever.
    if (error || is_dead(self->socket_.native_handle())) self->end();
  });
}

void HttpConnection::on_input() {
  error_code error;
  auto& scratch = service_.scratch;
  const std::size_t got = socket_.read_some(asio::buffer(scratch), error);
  if (error && would_block(error)) return await_input();
  if (error == asio::error::eof) return on_end_of_input();
  if (error) return end();
  take({scratch.data(), got});
  await_input();
}

// The client will send no more. Whether it still listens is known once something is sent to it: if
// not, its host says so at once. So something is sent that means nothing.
void HttpConnection::on_end_of_input() {
  input_ended_ = true;
  if (!owes_answer() && phase_ != Phase::finishing) return end();
  if (is_dead(socket_.native_handle())) return end();
  if (phase_ == Phase::streaming) write_event(kStreamComment);
  if (phase_ == Phase::handling && http_1_1_) write(kProcessing);
  await_error();
}

void HttpConnection::take(std::string_view bytes) {
  if (phase_ == Phase::lingering) {
    dropped_ += bytes.size();
    if (dropped_ > kMostDropped) end();
    return;
  }
  if (input_.empty() && (phase_ == Phase::head || phase_ == Phase::body)) {
    const std::size_t used = parse(bytes);
    input_.assign(bytes.substr(used));
    return;
  }
  input_.append(bytes);
  parse_kept();
}

void HttpConnection::parse_kept() {
  const std::size_t used = parse(input_);
  if (used == input_.size()) {
    input_ = std::string();
  } else {
    input_.erase(0, used);
  }
}

// Returns how much of `bytes` was taken; the rest belongs to what comes next.
std::size_t HttpConnection::parse(std::string_view bytes) {
  std::size_t used = 0;
  while ((phase_ == Phase::head || phase_ == Phase::body) && used < bytes.size()) {
    if (!parser_) {
      // Empty lines before a request are somebody's mistake that means nothing (RFC 9112, 2.2).
      if (bytes[used] == '\r' || bytes[used] == '\n') {
        ++used;
        continue;
      }
      start_request();
    }
    const HttpParser::State before = parser_->state();
    const std::size_t taken = parser_->take(bytes.substr(used));
    used += taken;
    if (parser_->state() == HttpParser::State::failed) {
      close_after_ = true;  // nobody knows where the next request begins
      refuse(parser_->fault());
      break;
    }
    if (before == HttpParser::State::head && parser_->state() != before && !check_head()) break;
    if (parser_->state() == HttpParser::State::done) {
      hand_over();
      break;
    }
    if (taken == 0 && parser_->state() == before) break;  // there has to be more
  }
  return used;
}

void HttpConnection::start_request() {
  parser_ = std::make_unique<HttpParser>(service_.limits.head, service_.limits.body);
  deadline_ = service_.now() + service_.limits.head_time;
  http_1_1_ = true;
  head_only_ = false;
  reader_.reset();
}

bool HttpConnection::check_head() {
  const HttpHead& head = parser_->head();
  http_1_1_ = head.http_1_1;
  head_only_ = head.method == "HEAD";
  close_after_ = !head.keep_alive || service_.stopping;
  const auto refused = [&](const HttpRefusal& refusal) {
    // What is still on its way would have to be read for nothing.
    if (parser_->state() != HttpParser::State::done) close_after_ = true;
    refuse(refusal);
    return false;
  };
  if (const auto refusal = service_.guard.foreign(head)) return refused(*refusal);
  reader_ = service_.guard.reader(head);

  const TimePoint now = service_.now();
  auto wait = service_.rate.take("", now);
  if (!wait) wait = service_.peer_rate.take(peer_, now);
  if (wait) {
    return refused(
        {429, "too many requests: try again later", {{"Retry-After", whole_seconds(*wait)}}});
  }
  if (reader_ && is_preflight(head)) {  // which has no token
    if (parser_->state() != HttpParser::State::done) close_after_ = true;
    write(preflight_text(manner()));
    drop_request();
    finish();
    return false;
  }
  if (const auto refusal = service_.guard.unknown(head)) return refused(*refusal);
  auto ask = route(head, service_.handler);
  if (!ask) return refused(ask.error());
  const std::uint64_t length = head.length.value_or(0);
  if (length > service_.limits.body) return refused({413, "the body is too large"});
  // A body that comes in chunks may become as large as any.
  const std::size_t most = head.chunked ? service_.limits.body : static_cast<std::size_t>(length);
  if (most > service_.limits.bodies - std::min(service_.bodies, service_.limits.bodies)) {
    return refused({503, "too much is being sent: try again later", {{"Retry-After", "1"}}});
  }
  counted_ = most;
  service_.bodies += most;
  ask_ = *std::move(ask);
  phase_ = Phase::body;
  deadline_ = now + service_.limits.body_time;
  const bool waits = http_1_1_ && head.field("expect").has_value() && head.has_body();
  if (waits && parser_->state() == HttpParser::State::body) write(kContinue);
  return true;
}

void HttpConnection::drop_request() {
  parser_.reset();
  service_.bodies -= std::exchange(counted_, 0);
}

void HttpConnection::refuse(const HttpRefusal& refusal) {
  if (phase_ == Phase::closed) return;
  // A header that cannot be read is nobody's, but it may be one of a page.
  if (!parser_) close_after_ = true;
  write(refusal_text(refusal, manner()));
  drop_request();
  finish();
}

void HttpConnection::hand_over() {
  ask_.body = std::move(parser_->body());
  drop_request();
  phase_ = Phase::handling;
  deadline_.reset();
  ++exchange_;
  if (input_ended_) await_error();
  service_.handler.handle(std::exchange(ask_, {}),
                          std::make_shared<HttpReply>(weak_from_this(), exchange_));
}

// --- ends

void HttpConnection::tick(TimePoint now) {
  const HttpLimits& limits = service_.limits;
  if (output_.size() > written_) {
    if (now - progress_ >= limits.stall_time) end();
    return;
  }
  if (phase_ == Phase::streaming && now - progress_ >= limits.comment_time) {
    return write_event(kStreamComment);
  }
  if (!deadline_ || now < *deadline_) return;
  if (!parser_) return end();  // nothing has come, or nothing more is owed
  close_after_ = true;
  refuse({408, "the request did not come to its end in time"});
}

void HttpConnection::wind_up() {
  close_after_ = true;
  if (phase_ == Phase::head && !parser_) linger();
}

void HttpConnection::end() {
  if (phase_ == Phase::closed) return;
  const auto self = shared_from_this();
  const bool owed = owes_answer();
  phase_ = Phase::closed;
  drop_request();
  error_code ignored;
  (void)socket_.close(ignored);
  service_.forget(self);
  drained_ = nullptr;
  const auto gone = std::exchange(gone_, nullptr);
  if (owed && gone) gone();
}

}  // namespace cordon::mcp
