#include "mcp/http/front.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <utility>

#include "base/errors.h"
#include "mcp/http/connection.h"
#include "mcp/http/service.h"

namespace cordon::mcp {

Result<std::unique_ptr<HttpFront>> HttpFront::open(boost::asio::io_context& loop, Handler& handler,
                                                   const HttpOptions& options) {
  std::vector<HttpSocket> sockets;
  for (const HttpAddress& address : options.listen) {
    if (!options.remote && !is_loopback(address)) {
      return base::fail(
          ErrorCode::invalid_argument, "listen",
          fmt::format("{} can be reached by others than this host: use 127.0.0.1", address.host));
    }
    auto socket = HttpSocket::listen(address);
    if (!socket) return std::unexpected(std::move(socket.error()));
    sockets.push_back(*std::move(socket));
  }
  auto service = std::make_shared<HttpService>(loop, handler, options, std::move(sockets));
  service->begin();
  return std::unique_ptr<HttpFront>(new HttpFront(std::move(service)));
}

HttpFront::HttpFront(std::shared_ptr<HttpService> service) : service_(std::move(service)) {}

HttpFront::~HttpFront() { service_->stop(/*at_once=*/true); }

std::vector<HttpAddress> HttpFront::addresses() const {
  std::vector<HttpAddress> all;
  for (const HttpSocket& socket : service_->sockets) all.push_back(socket.address());
  return all;
}

std::size_t HttpFront::connections() const { return service_->connections.size(); }

void HttpFront::stop() { service_->stop(/*at_once=*/false); }

}  // namespace cordon::mcp
