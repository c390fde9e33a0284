// Where the HTTP front listens: a TCP port of this host, or a socket in the file system that only
// its owner can connect to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::mcp {

struct HttpAddress {
  std::string path{};  // of the socket; empty: TCP
  std::string host{};  // an address, without brackets
  std::uint16_t port = 0;
};

// "127.0.0.1:8808", "[::1]:8808", "localhost:8808", "8808", "unix:PATH". Port 0: one that is free.
// Error: invalid_argument.
[[nodiscard]] Result<HttpAddress> read_http_address(std::string_view text);
[[nodiscard]] bool is_loopback(const HttpAddress& address);

// Listens as long as it lives; its socket in the file system goes with it.
class HttpSocket {
 public:
  // Not blocking. A socket that nobody listens on any more is replaced. Errors: not_permitted
  // (others could exchange the socket), wrong_state (somebody listens there), system.
  [[nodiscard]] static Result<HttpSocket> listen(const HttpAddress& address);
  ~HttpSocket();
  HttpSocket(HttpSocket&&) = default;
  HttpSocket& operator=(HttpSocket&&) = delete;

  [[nodiscard]] int fd() const { return socket_.get(); }
  // With the port that it has come to be.
  [[nodiscard]] const HttpAddress& address() const { return address_; }

 private:
  HttpSocket() = default;
  [[nodiscard]] Result<void> listen_tcp();
  [[nodiscard]] Result<void> listen_unix();

  HttpAddress address_;
  base::Fd socket_;
  base::Fd directory_;  // of the socket, and what it is called there
  std::string name_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace cordon::mcp
