#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <string>
#include <vector>

#include "asio/fixture.h"

namespace cordon::asio_test {
namespace {

using namespace asio::experimental::awaitable_operators;  // NOLINT(google-build-using-namespace)

using AsyncScale = AsioTest;

constexpr int kProcesses = 250;

struct Seen {
  std::string out;
  std::string err;
  int exit_code = -1;
};

asio::awaitable<void> watch(std::shared_ptr<Process> process, Seen& seen) {
  EventStream stream = process->events();
  while (auto event = co_await async_next(stream, asio::use_awaitable)) {
    if (event->kind == Event::Kind::exit) {
      seen.exit_code = event->outcome->exit_code.value_or(-2);
    } else {
      (event->kind == Event::Kind::out ? seen.out : seen.err) += event->data.view();
    }
  }
}

void expect_complete(const std::vector<Seen>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].out, "out " + std::to_string(i) + "\n");
    EXPECT_EQ(all[i].err, "err " + std::to_string(i) + "\n");
    EXPECT_EQ(all[i].exit_code, static_cast<int>(i % 100));
  }
}

std::string script(int i) {
  const std::string n = std::to_string(i);
  // `read` keeps all of them alive until they are let go together.
  return "echo out " + n + "; echo err " + n + " >&2; read go; exit " + std::to_string(i % 100);
}

TEST_F(AsyncScale, OneThreadServesACoroutineForEachProcess) {
  std::vector<Seen> all(kProcesses);
  std::vector<std::shared_ptr<Process>> processes;
  for (int i = 0; i < kProcesses; ++i) {
    Request request = shell(script(i));
    request.in = Input::pipe();
    processes.push_back(start(std::move(request)));
    spawn(watch(processes.back(), all[static_cast<std::size_t>(i)]));
  }
  io_.poll();
  for (const auto& process : processes) EXPECT_TRUE(process->running());
  asio::post(io_, [&] {
    for (const auto& process : processes) EXPECT_TRUE(process->close_stdin());
  });
  io_.run();
  expect_complete(all);
}

TEST_F(AsyncScale, SeveralThreadsServeACoroutineForEachProcess) {
  asio::thread_pool pool(3);
  std::vector<Seen> all(kProcesses);
  for (int i = 0; i < kProcesses; ++i) {
    asio::co_spawn(asio::make_strand(pool),
                   watch(start(shell(script(i))), all[static_cast<std::size_t>(i)]),
                   [](const std::exception_ptr& thrown) { EXPECT_FALSE(thrown); });
  }
  pool.join();
  expect_complete(all);
}

// Cancellation races with the end of the process from every side.
TEST_F(AsyncScale, CancelledAndEndingAtTheSameTime) {
  int ended = 0;
  int cancelled = 0;
  for (int i = 0; i < kProcesses; ++i) {
    spawn([](std::shared_ptr<Process> p, int& e, int& c) -> asio::awaitable<void> {
      asio::steady_timer timer(co_await asio::this_coro::executor, 1ms);
      for (;;) {
        auto result =
            co_await (async_wait(p, asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
        if (result.index() == 0) {
          ++e;
          co_return;
        }
        ++c;
        timer.expires_after(1ms);
      }
    }(start("exit 0"), ended, cancelled));
  }
  io_.run();
  EXPECT_EQ(ended, kProcesses);
  RecordProperty("cancelled", cancelled);
}

TEST_F(AsyncScale, ContextGoesWhileProcessesEnd) {
  for (int round = 0; round < 10; ++round) {
    asio::io_context io;
    for (int i = 0; i < 20; ++i) {
      asio::co_spawn(
          io,
          [](std::shared_ptr<Process> p) -> asio::awaitable<void> {
            (void)co_await async_wait(p, asio::use_awaitable);
          }(start("exit 0")),
          [](const std::exception_ptr&) {});
    }
    io.poll();
  }
}

}  // namespace
}  // namespace cordon::asio_test
