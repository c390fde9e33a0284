#include "mcp/http/parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <charconv>
#include <utility>

#include "mcp/http/text.h"

namespace cordon::mcp {
namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

constexpr std::size_t kMostFields = 100;
constexpr std::size_t kMostChunkHead = 8192;  // with what is behind the last one
constexpr std::size_t kFirstBody = 65536;     // what a length that is only claimed makes us reserve

HttpRefusal fault_of(const error_code& error) {
  if (error == http::error::header_limit) return {431, "the header is too large"};
  if (error == http::error::bad_version) return {505, "only HTTP/1.1 is spoken here"};
  if (error == http::error::bad_chunk || error == http::error::bad_chunk_extension) {
    return {400, "the chunks of the body cannot be told apart"};
  }
  return {400, "this is no HTTP request: " + error.message()};
}

// One length, in digits; nothing: it is none.
std::optional<std::uint64_t> read_length(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

class HttpParser::Impl final : public http::basic_parser<true> {
 public:
  Impl(std::size_t most_head, std::size_t most_body) : most_body_(most_body) {
    header_limit(static_cast<std::uint32_t>(most_head));
    body_limit(boost::none);  // ours comes after it is known whether anybody may ask
    eager(false);
  }

  [[nodiscard]] std::size_t feed(std::string_view bytes);

  State state = State::head;
  HttpHead head;
  std::string body;
  HttpRefusal fault;

 private:
  void fail(HttpRefusal why) {
    state = State::failed;
    fault = std::move(why);
  }
  // How long the body is, in one way only.
  void check_framing();

  void on_request_impl(http::verb /*method*/, string_view method, string_view target, int version,
                       error_code& /*error*/) override {
    head.method = std::string(method);
    head.target = std::string(target);
    head.http_1_1 = version == 11;
  }
  void on_response_impl(int /*code*/, string_view /*reason*/, int /*version*/,
                        error_code& /*error*/) override {}
  void on_field_impl(http::field /*field*/, string_view name, string_view value,
                     error_code& error) override {
    if (state != State::head) return;  // behind the last chunk: nobody has asked for it
    if (head.fields.size() == kMostFields) {
      error = http::error::header_limit;
      return;
    }
    head.fields.emplace_back(lower_case(std::string_view(name.data(), name.size())),
                             std::string(value));
  }
  void on_header_impl(error_code& /*error*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& length,
                         error_code& /*error*/) override {
    body.reserve(std::min<std::uint64_t>(length.value_or(0), kFirstBody));
  }
  std::size_t on_body_impl(string_view part, error_code& error) override {
    if (part.size() > most_body_ - body.size()) {
      fail({413, "the body is too large"});
      error = http::error::body_limit;
      return 0;
    }
    body.append(part.data(), part.size());
    return part.size();
  }
  void on_chunk_header_impl(std::uint64_t size, string_view /*extensions*/,
                            error_code& error) override {
    if (size <= most_body_ - body.size()) return;
    fail({413, "the body is too large"});
    error = http::error::body_limit;
  }
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, string_view part,
                                 error_code& error) override {
    return on_body_impl(part, error);
  }
  void on_finish_impl(error_code& /*error*/) override {}

  std::size_t most_body_;
};

void HttpParser::Impl::check_framing() {
  const std::size_t lengths = head.count("content-length");
  const std::size_t encodings = head.count("transfer-encoding");
  if (lengths > 1 || encodings > 1 || (lengths == 1 && encodings == 1)) {
    return fail({400, "the length of the body is told in more than one way"});
  }
  if (lengths == 1) {
    head.length = read_length(*head.field("content-length"));
    if (!head.length) return fail({400, "Content-Length is no number"});
  }
  if (encodings == 1) {
    if (lower_case(*head.field("transfer-encoding")) != "chunked" || !chunked()) {
      return fail({400, "the only Transfer-Encoding that is understood is chunked"});
    }
    if (!head.http_1_1) return fail({400, "HTTP/1.0 has no Transfer-Encoding"});
    head.chunked = true;
  }
  head.keep_alive = head.http_1_1 && keep_alive();
}

std::size_t HttpParser::Impl::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (state == State::head || state == State::body) {
    const std::string_view rest = bytes.substr(used);
    if (rest.empty()) break;
    error_code error;
    used += put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    if (state == State::failed) break;
    if (error == http::error::need_more) {
      if (state == State::body && bytes.size() - used > kMostChunkHead) {
        fail({400, "a chunk's size or what is behind the last chunk is too long"});
      }
      break;
    }
    if (error) {
      fail(fault_of(error));
      break;
    }
    if (state == State::head && is_header_done()) {
      check_framing();
      if (state == State::failed) break;
      state = is_done() ? State::done : State::body;
      return used;
    }
    if (is_done()) state = State::done;
  }
  return used;
}

HttpParser::HttpParser(std::size_t most_head, std::size_t most_body)
    : impl_(std::make_unique<Impl>(most_head, most_body)) {}
HttpParser::~HttpParser() = default;

std::size_t HttpParser::take(std::string_view bytes) { return impl_->feed(bytes); }
HttpParser::State HttpParser::state() const { return impl_->state; }
const HttpHead& HttpParser::head() const { return impl_->head; }
std::string& HttpParser::body() { return impl_->body; }
const HttpRefusal& HttpParser::fault() const { return impl_->fault; }

}  // namespace cordon::mcp
