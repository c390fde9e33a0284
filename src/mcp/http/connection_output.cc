// The half of a connection that sends: see http_connection.h.
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "mcp/http/connection.h"
#include "mcp/http/service.h"

namespace cordon::mcp {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kKeptBuffer = std::size_t{16} << 10;  // an output buffer goes when larger
constexpr std::size_t kShift = std::size_t{256} << 10;      // written bytes are cut off from there

bool would_block(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again ||
         error == asio::error::interrupted;
}

}  // namespace

void HttpConnection::write(std::string_view bytes) {
  if (phase_ == Phase::closed) return;
  if (output_.size() == written_) progress_ = service_.now();
  output_.append(bytes);
  flush_soon();
}

void HttpConnection::write_event(std::string_view bytes) {
  if (http_1_1_) {
    write(chunk(bytes));
  } else {
    write(bytes);
  }
}

// Not at once: what is sent in one go by several calls is one write, and nobody is called back by
// what it has called.
void HttpConnection::flush_soon() {
  if (flush_posted_ || writing_) return;
  flush_posted_ = true;
  asio::post(service_.loop, [self = shared_from_this()] {
    self->flush_posted_ = false;
    if (self->phase_ != Phase::closed) self->flush();
  });
}

// What can be sent without waiting; what follows from that is left to the flush that will come.
void HttpConnection::write_now() {
  if (writing_ || phase_ == Phase::closed) return;
  error_code error;
  const std::size_t sent =
      socket_.write_some(asio::buffer(output_.data() + written_, output_.size() - written_), error);
  if (!error) written_ += sent;
}

void HttpConnection::flush() {
  while (written_ < output_.size()) {
    error_code error;
    const std::size_t sent = socket_.write_some(
        asio::buffer(output_.data() + written_, output_.size() - written_), error);
    if (error && would_block(error)) {
      if (written_ >= kShift) {
        output_.erase(0, written_);
        written_ = 0;
      }
      writing_ = true;
      socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const error_code& failed) {
        self->writing_ = false;
        if (self->phase_ == Phase::closed) return;
        if (failed) return self->end();
        self->flush();
      });
      return;
    }
    if (error) return end();
    written_ += sent;
    progress_ = service_.now();
  }
  written_ = 0;
  if (output_.capacity() > kKeptBuffer || phase_ == Phase::finishing) {
    output_ = std::string();
  } else {
    output_.clear();
  }
  on_flushed();
}

void HttpConnection::on_flushed() {
  if (const auto call = std::exchange(drained_, nullptr)) call();
  if (phase_ == Phase::finishing && output_.empty()) next_request();
}

void HttpConnection::finish() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::finishing;
  deadline_.reset();
  gone_ = nullptr;
  flush_soon();
}

void HttpConnection::next_request() {
  if (close_after_ || service_.stopping) return linger();
  phase_ = Phase::head;
  deadline_ = service_.now() + service_.limits.idle_time;
  if (!input_.empty()) parse_kept();
  // Also when what is kept is less than a request: the rest will not come.
  if (input_ended_ && phase_ == Phase::head) return end();
  await_input();
}

// A connection that is closed while something unread has come is reset, and the client may lose
// what it was sent last. So it goes on being read for a moment.
void HttpConnection::linger() {
  if (input_ended_) return end();
  phase_ = Phase::lingering;
  input_ = std::string();
  deadline_ = service_.now() + service_.limits.linger_time;
  error_code ignored;
  (void)socket_.shutdown(Socket::shutdown_send, ignored);
  await_input();
}

// --- for the Reply

void HttpConnection::answer(std::uint64_t exchange, const Answer& answer) {
  if (!current(exchange) || phase_ != Phase::handling) return;
  close_after_ = close_after_ || service_.stopping;
  write(answer_text(answer, manner()));
  finish();
  write_now();
}

void HttpConnection::begin_stream(std::uint64_t exchange, const Headers& headers) {
  if (!current(exchange) || phase_ != Phase::handling) return;
  close_after_ = close_after_ || service_.stopping || !http_1_1_;
  write(stream_head(headers, manner()));
  phase_ = Phase::streaming;
}

void HttpConnection::send(std::uint64_t exchange, const StreamEvent& event) {
  if (current(exchange) && phase_ == Phase::streaming) write_event(event_text(event));
}

void HttpConnection::end_stream(std::uint64_t exchange) {
  if (!current(exchange) || phase_ != Phase::streaming) return;
  if (http_1_1_) write(kLastChunk);
  finish();
}

void HttpConnection::abandon(std::uint64_t exchange) {
  if (!current(exchange)) return;
  if (phase_ == Phase::streaming) return end();  // cut short: the client must see that
  close_after_ = true;
  write(refusal_text({500, "the server has lost this request"}, manner()));
  finish();
}

std::size_t HttpConnection::pending(std::uint64_t exchange) const {
  return exchange == exchange_ && phase_ != Phase::closed ? output_.size() - written_ : 0;
}

void HttpConnection::when_drained(std::uint64_t exchange, std::function<void()> call) {
  if (exchange != exchange_ || phase_ == Phase::closed) return;
  if (output_.size() == written_) return call();
  drained_ = std::move(call);
}

void HttpConnection::when_gone(std::uint64_t exchange, std::function<void()> call) {
  if (current(exchange)) {
    gone_ = std::move(call);
  } else if (exchange == exchange_ && phase_ == Phase::closed) {
    call();
  }
}

}  // namespace cordon::mcp
