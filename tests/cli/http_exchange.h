// A client of `cordon mcp serve`, as plain as can be: one request, one connection.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "command.h"

namespace cordon::cli {

struct HttpAnswer {
  int status = 0;  // 0: none came
  std::string head;
  std::string body;

  // Of this name; empty: there is none.
  [[nodiscard]] std::string header(const std::string& name) const {
    std::string lower = head;
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
    const std::size_t at = lower.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

inline base::Fd connect_to(std::uint16_t port, const std::string& socket_path = "") {
  base::Fd connection(
      ::socket(socket_path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in tcp{};
  tcp.sin_family = AF_INET;
  tcp.sin_port = htons(port);
  tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  std::ranges::copy(socket_path, std::begin(local.sun_path));
  const int connected =
      socket_path.empty()
          ? ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&tcp), sizeof tcp)
          : ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&local), sizeof local);
  return connected == 0 ? std::move(connection) : base::Fd();
}

// `text` is a whole request that asks for the connection to be closed.
inline HttpAnswer exchange(const base::Fd& connection, std::string_view text) {
  std::string all;
  if (!connection || ::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0)
    return {};
  while (true) {
    pollfd watched{.fd = connection.get(), .events = POLLIN, .revents = 0};
    const auto patience = std::chrono::milliseconds(kPatience).count();
    if (::poll(&watched, 1, static_cast<int>(patience)) != 1) break;
    std::string buffer(65536, '\0');
    const ssize_t got = ::recv(connection.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    all.append(buffer, 0, static_cast<std::size_t>(got));
  }
  const std::size_t end = all.find("\r\n\r\n");
  if (end == std::string::npos || !all.starts_with("HTTP/1.1 ")) return {};
  return {.status = std::stoi(all.substr(9, 3)),
          .head = all.substr(0, end + 2),
          .body = all.substr(end + 4)};
}

inline std::string post_text(const std::string& path, const std::string& body,
                             const std::string& headers = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers +
         "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace cordon::cli
