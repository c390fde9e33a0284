#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <thread>
#include <utility>

#include "mcp/peer.h"
#include "support/figure.h"

namespace cordon::bench {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int new_socket() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) give_up("cannot make a socket");
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

std::pair<int, std::uint16_t> listen_anywhere() {
  const int fd = new_socket();
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 || ::listen(fd, 16) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    give_up("cannot listen on 127.0.0.1");
  }
  return {fd, ntohs(address.sin_port)};
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (size <= 0) give_up("the bridge has closed the connection");
    text.remove_prefix(static_cast<std::size_t>(size));
  }
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

// What stands behind the colon; empty: it is another field.
std::string field(const std::string& line, std::string_view name) {
  if (!lower(line).starts_with(name)) return {};
  const std::size_t begin = line.find_first_not_of(' ', name.size());
  return begin == std::string::npos ? std::string() : line.substr(begin);
}

}  // namespace

std::uint16_t free_port() {
  const auto [fd, port] = listen_anywhere();
  ::close(fd);
  return port;
}

HttpClient::HttpClient(std::uint16_t port) {
  const sockaddr_in address = loopback(port);
  for (int i = 0; i < 1000; ++i) {
    fd_ = new_socket();
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return;
    ::close(fd_);
    ::usleep(20'000);
  }
  give_up(fmt::format("nobody listens on port {}", port));
}

HttpClient::~HttpClient() {
  if (fd_ >= 0) ::close(fd_);
}

HttpClient::HttpClient(HttpClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), read_(std::move(other.read_)) {}

void HttpClient::send(std::string_view path, std::string_view body, std::string_view session) {
  write_all(fd_, fmt::format("POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                             "Content-Type: application/json\r\n"
                             "Accept: application/json, text/event-stream\r\n"
                             "MCP-Protocol-Version: 2025-11-25\r\n{}{}{}"
                             "Content-Length: {}\r\n\r\n{}",
                             path, session.empty() ? "" : "Mcp-Session-Id: ", session,
                             session.empty() ? "" : "\r\n", body.size(), body));
}

void HttpClient::fill() {
  std::array<char, 65536> buffer{};
  const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), 0);
  if (size <= 0) give_up("the bridge has closed the connection");
  read_.append(buffer.data(), static_cast<std::size_t>(size));
}

std::string HttpClient::take(std::size_t size) {
  while (read_.size() < size) fill();
  std::string taken = read_.substr(0, size);
  read_.erase(0, size);
  return taken;
}

std::string HttpClient::take_line() {
  std::size_t end = 0;
  while ((end = read_.find("\r\n")) == std::string::npos) fill();
  std::string line = take(end + 2);
  line.resize(end);
  return line;
}

HttpClient::Response HttpClient::receive() {
  Response response;
  response.status = std::stoi(take_line().substr(sizeof("HTTP/1.1")));
  std::size_t size = 0;
  bool chunked = false;
  for (std::string line = take_line(); !line.empty(); line = take_line()) {
    if (const std::string value = field(line, "content-length:"); !value.empty()) {
      size = std::stoul(value);
    }
    if (const std::string value = field(line, "mcp-session-id:"); !value.empty()) {
      response.session = value;
    }
    if (!field(line, "transfer-encoding:").empty()) chunked = true;
  }
  if (!chunked) {
    response.body = take(size);
    return response;
  }
  while ((size = std::stoul(take_line(), nullptr, 16)) != 0) {
    response.body += take(size);
    (void)take_line();
  }
  (void)take_line();
  return response;
}

EchoingHttp::EchoingHttp(std::string body) {
  const auto [listener, port] = listen_anywhere();
  port_ = port;
  // For as long as the program runs.
  std::thread([listener, body = std::move(body)] {
    const std::string answer = fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
        body.size(), body);
    const int fd = ::accept(listener, nullptr, nullptr);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    std::array<char, 65536> buffer{};
    while (::recv(fd, buffer.data(), buffer.size(), 0) > 0) write_all(fd, answer);
  }).detach();
}

}  // namespace cordon::bench
