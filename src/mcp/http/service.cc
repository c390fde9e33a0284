#include "mcp/http/service.h"

#include <arpa/inet.h>
#include <fmt/chrono.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "mcp/http/connection.h"

namespace cordon::mcp {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kScratch = std::size_t{64} << 10;
constexpr std::size_t kAtOnce = 64;  // connections taken before others have their turn
constexpr int kUnsent = 128 << 10;   // what the kernel keeps for a slow client
constexpr auto kPause = std::chrono::milliseconds(100);

// Whose requests are counted together.
std::string peer_of(const sockaddr_storage& address, int fd) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address, sizeof four);
    return ::inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size()) != nullptr ? text.data()
                                                                                     : "";
  }
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &address, sizeof six);
    return ::inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size()) != nullptr ? text.data()
                                                                                      : "";
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  (void)::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return "user " + std::to_string(peer.uid);
}

Duration shortest(const HttpLimits& limits) {
  return std::min({limits.head_time, limits.body_time, limits.idle_time, limits.stall_time,
                   limits.comment_time, limits.linger_time});
}

}  // namespace

HttpService::HttpService(asio::io_context& its_loop, Handler& its_handler,
                         const HttpOptions& options, std::vector<HttpSocket> its_sockets)
    : loop(its_loop),
      handler(its_handler),
      guard(options.hosts, options.origins, options.token),
      limits(options.limits),
      rate(options.limits.requests_per_second),
      peer_rate(options.limits.requests_per_second_a_peer),
      sockets(std::move(its_sockets)),
      scratch(kScratch),
      clock_(real_clock()),
      timer_(its_loop),
      period_(std::clamp<Duration>(shortest(limits) / 8, std::chrono::milliseconds(10),
                                   std::chrono::seconds(1))) {}

void HttpService::begin() {
  for (const HttpSocket& socket : sockets) {
    listeners_.push_back(
        {asio::posix::stream_descriptor(loop, socket.fd()), asio::steady_timer(loop)});
  }
  for (std::size_t i = 0; i < listeners_.size(); ++i) listen(i);
}

void HttpService::listen(std::size_t index) {
  listeners_[index].descriptor.async_wait(
      asio::posix::stream_descriptor::wait_read,
      [self = shared_from_this(), index](const error_code& error) {
        if (error || self->stopping) return;
        std::size_t taken = 0;
        while (taken < kAtOnce && self->accept(index)) ++taken;
        if (taken != 0 || errno == EAGAIN) return self->listen(index);
        // Out of descriptors or memory: it would be ready again at once.
        asio::steady_timer& pause = self->listeners_[index].pause;
        pause.expires_after(kPause);
        pause.async_wait([self, index](const error_code& stopped) {
          if (!stopped && !self->stopping) self->listen(index);
        });
      });
}

bool HttpService::accept(std::size_t index) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const int fd = ::accept4(sockets[index].fd(), reinterpret_cast<sockaddr*>(&address), &size,
                           SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    // One that was given up before it was taken, or the like: there may be others.
    return errno == ECONNABORTED || errno == EINTR || errno == EPROTO;
  }
  if (address.ss_family != AF_UNIX) {
    const int on = 1;
    (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsent, sizeof kUnsent);
  }
  take(fd, peer_of(address, fd));
  return true;
}

void HttpService::take(int fd, std::string peer) {
  HttpConnection::Socket socket(loop);
  error_code error;
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  (void)::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size);
  if (socket.assign(asio::generic::stream_protocol(own.ss_family, 0), fd, error)) {
    ::close(fd);
    return;
  }
  (void)socket.native_non_blocking(true, error);
  (void)socket.non_blocking(true, error);
  const bool room = connections.size() < limits.connections;
  // Those that are turned away take room, too.
  if (connections.size() >= limits.connections + limits.connections / 8 + 16) return;
  auto connection = std::make_shared<HttpConnection>(*this, std::move(socket), std::move(peer));
  connections.insert(connection);
  if (room) {
    connection->begin();
  } else {
    connection->turn_away();
  }
  if (!watching_) watch();
}

void HttpService::watch() {
  watching_ = !connections.empty();
  if (!watching_) return;
  timer_.expires_after(period_);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error) return;
    const TimePoint now = self->now();
    // One may end others by what it does.
    const std::vector<std::shared_ptr<HttpConnection>> all(self->connections.begin(),
                                                           self->connections.end());
    for (const auto& connection : all) connection->tick(now);
    self->watch();
  });
}

void HttpService::forget(const std::shared_ptr<HttpConnection>& connection) {
  connections.erase(connection);
}

void HttpService::stop(bool at_once) {
  stopping = true;
  for (Listener& listener : listeners_) {
    if (listener.descriptor.is_open()) (void)listener.descriptor.release();
    listener.pause.cancel();
  }
  sockets.clear();
  const std::vector<std::shared_ptr<HttpConnection>> all(connections.begin(), connections.end());
  for (const auto& connection : all) {
    if (at_once) {
      connection->end();
    } else {
      connection->wind_up();
    }
  }
  if (at_once) timer_.cancel();
}

std::string_view HttpService::date() {
  const auto now = std::chrono::floor<std::chrono::seconds>(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(clock_.wall_now()));
  if (now != date_of_) {
    date_of_ = now;
    date_ =
        fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(now.time_since_epoch().count()));
  }
  return date_;
}

}  // namespace cordon::mcp
