// Something that answers requests of MCP: a server at the other end of two pipes, or behind HTTP.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/bare.h"

namespace cordon::bench {

// A program with pipes at its stdin and stdout; killed when this goes.
class PipedServer {
 public:
  explicit PipedServer(const std::vector<std::string>& command);
  ~PipedServer();
  PipedServer(const PipedServer&) = delete;
  PipedServer& operator=(const PipedServer&) = delete;

  // Sends a message and waits for the line that has this in it, which says that it is the answer.
  void ask(std::string_view message, std::string_view answer);
  void tell(std::string_view message);

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string read_;
};

// A program that is left alone until it is killed.
class Background {
 public:
  explicit Background(const std::vector<std::string>& command);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] double resident_megabytes() const;

 private:
  pid_t pid_ = -1;
};

// A connection that is kept from request to request.
class HttpClient {
 public:
  // Waits until somebody listens there.
  explicit HttpClient(std::uint16_t port);
  ~HttpClient();
  HttpClient(HttpClient&& other) noexcept;
  HttpClient& operator=(HttpClient&&) = delete;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  struct Response {
    int status = 0;
    std::string session;  // its Mcp-Session-Id
    std::string body;
  };
  void send(std::string_view path, std::string_view body, std::string_view session);
  [[nodiscard]] Response receive();
  [[nodiscard]] Response post(std::string_view path, std::string_view body,
                              std::string_view session) {
    send(path, body, session);
    return receive();
  }

 private:
  void fill();
  [[nodiscard]] std::string take(std::size_t size);
  [[nodiscard]] std::string take_line();

  int fd_ = -1;
  std::string read_;
};

// Answers every request with the same: what HTTP over the loopback costs by itself.
class EchoingHttp {
 public:
  explicit EchoingHttp(std::string body);
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  std::uint16_t port_ = 0;
};

[[nodiscard]] std::uint16_t free_port();

}  // namespace cordon::bench
