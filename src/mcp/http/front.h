// The HTTP side of `cordon mcp serve`: connections, and what of them may come to a Handler.
//
// Before it is looked at what is asked for, Host and Origin are checked, then the token. Everything
// happens in the thread that runs the event loop, and nothing blocks. A client that reads slowly
// holds its sender back (Reply::pending); one that goes away is noticed while nothing is sent, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "mcp/exchange.h"
#include "mcp/http/socket.h"

namespace boost::asio {
class io_context;  // NOLINT(readability-identifier-naming): it is Boost's
}

namespace cordon::mcp {

struct HttpLimits {
  std::size_t body = std::size_t{4} << 20;       // of one request
  std::size_t bodies = std::size_t{64} << 20;    // of all that are on their way in
  std::size_t head = std::size_t{16} << 10;      // of one request
  std::size_t connections = 4096;                // at once
  std::uint32_t requests_per_second = 0;         // of all together; 0: any number
  std::uint32_t requests_per_second_a_peer = 0;  // of one address, or user of a unix socket
  Duration head_time = std::chrono::seconds(10);
  Duration body_time = std::chrono::seconds(30);
  Duration idle_time = std::chrono::seconds(75);     // between two requests
  Duration stall_time = std::chrono::seconds(60);    // until a client takes something of an answer
  Duration comment_time = std::chrono::seconds(15);  // a stream is silent for at most
  Duration linger_time = std::chrono::seconds(2);    // for a client to read the last answer
};

struct HttpOptions {
  std::vector<HttpAddress> listen{};
  bool remote = false;                 // also addresses that others than this host can reach
  std::vector<std::string> hosts{};    // that it may be called by, see http_guard.h
  std::vector<std::string> origins{};  // whose pages may ask and read the answers
  std::string token{};                 // empty: none is asked for
  HttpLimits limits{};
};

class HttpService;

class HttpFront {
 public:
  // Listens at once; connections are served once the loop runs. The loop and the handler must
  // outlive the front. Errors: of HttpSocket::listen(); invalid_argument for an address that is not
  // this host's alone without `remote`.
  [[nodiscard]] static Result<std::unique_ptr<HttpFront>> open(boost::asio::io_context& loop,
                                                               Handler& handler,
                                                               const HttpOptions& options);
  // Ends all connections, as stop() with no time left.
  ~HttpFront();
  HttpFront(const HttpFront&) = delete;
  HttpFront& operator=(const HttpFront&) = delete;

  // With the ports that were chosen.
  [[nodiscard]] std::vector<HttpAddress> addresses() const;
  [[nodiscard]] std::size_t connections() const;
  // Takes no further connections and no further requests on those that are there; each ends with
  // the answer that it waits for.
  void stop();

 private:
  explicit HttpFront(std::shared_ptr<HttpService> service);
  std::shared_ptr<HttpService> service_;
};

}  // namespace cordon::mcp
