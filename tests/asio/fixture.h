// What the tests of asio.h share: a Manager, an io_context and shell programs.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "cordon/asio.h"
#include "cordon/manager.h"

namespace cordon::asio_test {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

// The error comes back beside the value instead of being thrown.
inline constexpr auto kWithError = asio::experimental::as_tuple(asio::use_awaitable);

class AsioTest : public ::testing::Test {
 protected:
  AsioTest() : manager_(std::move(posix_manager().value())) {}

  std::shared_ptr<Process> create(Request request) {
    return manager_->create(std::move(request)).value();
  }
  static Request shell(std::string script) {
    Request request;
    request.program = "/bin/sh";
    request.args = {"-c", std::move(script)};
    return request;
  }
  std::shared_ptr<Process> start(Request request) {
    auto process = create(std::move(request));
    EXPECT_TRUE(process->start().has_value());
    return process;
  }
  std::shared_ptr<Process> start(std::string script) { return start(shell(std::move(script))); }

  // Runs the loop until nothing is left to do; a coroutine that throws fails the test.
  template <typename T>
  void spawn(asio::awaitable<T> coroutine) {
    asio::co_spawn(io_, std::move(coroutine), [](const std::exception_ptr& thrown, auto&&...) {
      if (thrown) std::rethrow_exception(thrown);
    });
  }

  std::unique_ptr<Manager> manager_;
  asio::io_context io_{1};
};

}  // namespace cordon::asio_test
