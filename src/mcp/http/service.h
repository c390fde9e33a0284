// What the connections of one HTTP front share. Used in the loop's thread alone.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cordon/clock.h"
#include "mcp/exchange.h"
#include "mcp/http/front.h"
#include "mcp/http/guard.h"
#include "mcp/http/rate.h"
#include "mcp/http/socket.h"

namespace cordon::mcp {

class HttpConnection;

class HttpService : public std::enable_shared_from_this<HttpService> {
 public:
  HttpService(boost::asio::io_context& its_loop, Handler& its_handler, const HttpOptions& options,
              std::vector<HttpSocket> its_sockets);

  void begin();
  // No further connection. `at_once`: and none that is there goes on.
  void stop(bool at_once);

  void forget(const std::shared_ptr<HttpConnection>& connection);
  // "Mon, 16 Nov 2026 21:00:00 GMT"; made once a second.
  [[nodiscard]] std::string_view date();
  [[nodiscard]] TimePoint now() const { return clock_.now(); }

  boost::asio::io_context& loop;
  Handler& handler;
  const HttpGuard guard;
  const HttpLimits limits;
  HttpRate rate;
  HttpRate peer_rate;
  std::vector<HttpSocket> sockets;
  std::unordered_set<std::shared_ptr<HttpConnection>> connections;
  std::size_t bodies = 0;  // bytes of bodies that are on their way in
  bool stopping = false;
  std::vector<char> scratch;  // what is read goes here first: a silent connection has no buffer

 private:
  struct Listener {
    boost::asio::posix::stream_descriptor descriptor;  // of the socket of the same place
    boost::asio::steady_timer pause;                   // while the host has no descriptors left
  };
  void listen(std::size_t index);
  // False: none is there, or none can be taken now.
  [[nodiscard]] bool accept(std::size_t index);
  void take(int fd, std::string peer);
  // Looks at the deadlines of all connections as long as there are any.
  void watch();

  Clock& clock_;
  std::vector<Listener> listeners_;
  boost::asio::steady_timer timer_;
  Duration period_;
  bool watching_ = false;
  std::string date_;
  std::chrono::sys_seconds date_of_{};
};

}  // namespace cordon::mcp
