// An HTTP front in a thread of its own with a handler that a test scripts, and clients that are
// plain sockets.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "mcp/http/front.h"

namespace cordon::mcp {

inline constexpr auto kPatience = std::chrono::seconds(20);

// A client. Every call has the same patience.
class HttpClient {
 public:
  explicit HttpClient(const HttpAddress& address, int receive_buffer = 0) {
    const bool local = !address.path.empty();
    socket_ = base::Fd(::socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (receive_buffer != 0) {
      (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer,
                         sizeof receive_buffer);
    }
    int connected = -1;
    if (local) {
      sockaddr_un name{};
      name.sun_family = AF_UNIX;
      std::ranges::copy(address.path, std::begin(name.sun_path));
      connected = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name);
    } else {
      sockaddr_in name{};
      name.sin_family = AF_INET;
      name.sin_port = htons(address.port);
      name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      connected = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name);
    }
    EXPECT_EQ(connected, 0) << std::strerror(errno);
  }

  // False: the front has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end_input() { (void)::shutdown(socket_.get(), SHUT_WR); }
  void close() { socket_.reset(); }

  // More of what comes. False: it is over, or nothing has come in time.
  bool receive() {
    pollfd watched{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    const auto patience = std::chrono::milliseconds(kPatience).count();
    if (::poll(&watched, 1, static_cast<int>(patience)) != 1) {
      ADD_FAILURE() << "nothing came in time; so far: " << text_;
      return false;
    }
    std::string buffer(65536, '\0');
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    text_.append(buffer, 0, static_cast<std::size_t>(got));
    return true;
  }
  bool silent(std::chrono::milliseconds time) {
    pollfd watched{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&watched, 1, static_cast<int>(time.count())) == 0;
  }
  // All that comes until this has; cut off from the rest.
  std::string until(std::string_view mark) {
    while (text_.find(mark) == std::string::npos && receive()) {
    }
    const std::size_t end = text_.find(mark);
    if (end == std::string::npos) {
      ADD_FAILURE() << "did not come: " << mark << "; but: " << text_;
      return std::exchange(text_, {});
    }
    std::string result = text_.substr(0, end + mark.size());
    text_.erase(0, result.size());
    return result;
  }
  // Until the front closes.
  std::string rest() {
    while (receive()) {
    }
    return std::exchange(text_, {});
  }
  // An answer with a Content-Length, whole.
  std::string answer() {
    std::string head = until("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) return head;
    const std::size_t length = std::stoul(head.substr(at + 16));
    while (text_.size() < length && receive()) {
    }
    head += text_.substr(0, length);
    text_.erase(0, length);
    return head;
  }

 private:
  base::Fd socket_;
  std::string text_;
};

// Answers {"got":BODY}, unless a test says otherwise. Knows "a" and "b c".
class ScriptedHandler final : public Handler {
 public:
  using Script = std::function<void(Ask ask, std::shared_ptr<Reply> reply)>;

  [[nodiscard]] bool knows(std::string_view server) const override {
    return server == "a" || server == "b c";
  }
  void handle(Ask ask, std::shared_ptr<Reply> reply) override {
    {
      const std::lock_guard lock(mutex_);
      asks_.push_back(ask);
    }
    came_.notify_all();
    if (script) return script(std::move(ask), std::move(reply));
    reply->answer({.body = R"({"got":")" + ask.body + R"("})"});
  }

  [[nodiscard]] std::vector<Ask> asks() const {
    const std::lock_guard lock(mutex_);
    return asks_;
  }
  [[nodiscard]] bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, kPatience, [&] { return asks_.size() >= count; });
  }

  Script script;  // set before the first request

 private:
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Ask> asks_;
};

class HttpFrontTest : public testing::Test {
 protected:
  ~HttpFrontTest() override { stop(); }

  // Listens on any port of 127.0.0.1 unless `options` say where.
  void start(HttpOptions options = {}) {
    if (options.listen.empty()) options.listen = {{.host = "127.0.0.1"}};
    auto opened = HttpFront::open(loop_, handler, options);
    ASSERT_TRUE(opened) << opened.error().message;
    front = *std::move(opened);
    address = front->addresses().front();
    thread_ = std::thread([this] { loop_.run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    in_loop([this] { front.reset(); });
    work_.reset();
    loop_.stop();
    thread_.join();
  }
  template <typename Call>
  std::invoke_result_t<Call> in_loop(Call call) {
    std::packaged_task<std::invoke_result_t<Call>()> task(std::move(call));
    auto result = task.get_future();
    boost::asio::post(loop_, [&] { task(); });
    return result.get();
  }
  [[nodiscard]] bool eventually(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      if (in_loop(holds)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }
  [[nodiscard]] HttpClient client() const { return HttpClient(address); }

  [[nodiscard]] static std::string request(std::string_view method, std::string_view target,
                                           std::string_view more = "", std::string_view body = "") {
    std::string text = std::string(method) + " " + std::string(target) +
                       " HTTP/1.1\r\nHost: localhost\r\n" + std::string(more);
    if (method == "POST") {
      text += "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
              ("Content-Length: " + std::to_string(body.size())) + "\r\n";
    }
    return text + "\r\n" + std::string(body);
  }
  [[nodiscard]] static std::string post(std::string_view body, std::string_view more = "") {
    return request("POST", "/a/mcp", more, body);
  }

  ScriptedHandler handler;
  HttpAddress address;
  std::unique_ptr<HttpFront> front;

 private:
  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      loop_.get_executor()};
  std::thread thread_;
};

}  // namespace cordon::mcp
