#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <optional>
#include <tuple>
#include <variant>

#include "asio/fixture.h"

namespace cordon::asio_test {
namespace {

using namespace asio::experimental::awaitable_operators;  // NOLINT(google-build-using-namespace)

using AsyncWait = AsioTest;

TEST_F(AsyncWait, GivesTheOutcome) {
  const auto process = start("exit 42");
  std::optional<Outcome> outcome;
  spawn([](std::shared_ptr<Process> p, std::optional<Outcome>& got) -> asio::awaitable<void> {
    got = co_await async_wait(p, asio::use_awaitable);
  }(process, outcome));
  io_.run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::exited);
  EXPECT_EQ(outcome->exit_code, 42);
}

TEST_F(AsyncWait, IsNotHeldUpByOutputThatNobodyReads) {
  const auto process = start("head -c 8000000 /dev/zero; kill -SEGV $$");
  std::optional<Outcome> outcome;
  async_wait(process, asio::bind_executor(io_, [&](error_code error, Outcome o) {
               EXPECT_FALSE(error);
               outcome = std::move(o);
             }));
  io_.run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::signaled);
  EXPECT_EQ(outcome->termination.signal, SIGSEGV);
  EXPECT_EQ(outcome->output_bytes, 8'000'000U);
}

TEST_F(AsyncWait, LeavesTheOutputOfAnEndedProcess) {
  const auto process = start("echo kept");
  ASSERT_TRUE(process->wait());
  std::optional<Outcome> outcome;
  async_wait(process,
             asio::bind_executor(io_, [&](error_code, Outcome o) { outcome = std::move(o); }));
  io_.run();
  EXPECT_TRUE(outcome);
  EventStream stream = process->events();
  EXPECT_EQ(stream.next()->data.view(), "kept\n");
}

TEST_F(AsyncWait, GivesTheOutcomeWhenAnotherStreamTookTheExitEvent) {
  const auto process = start("echo a; exit 3");
  spawn([](std::shared_ptr<Process> p) -> asio::awaitable<void> {
    EventStream stream = p->events();
    while (co_await async_next(stream, asio::use_awaitable)) {
    }
    EXPECT_EQ((co_await async_wait(p, asio::use_awaitable)).exit_code, 3);
  }(process));
  io_.run();
}

TEST_F(AsyncWait, ReportsAFailureToStart) {
  Request request;
  request.program = "/no/such/program";
  const auto process = create(std::move(request));
  EXPECT_FALSE(process->start());
  spawn([](std::shared_ptr<Process> p) -> asio::awaitable<void> {
    const Outcome outcome = co_await async_wait(p, asio::use_awaitable);
    EXPECT_EQ(outcome.verdict, Verdict::failed_to_start);
    EXPECT_EQ(outcome.error->code, ErrorCode::not_found);
  }(process));
  io_.run();
}

TEST_F(AsyncWait, FailsOnAProcessThatIsNotStarted) {
  const auto process = create(shell("exit 0"));
  std::optional<error_code> result;
  async_wait(process,
             asio::bind_executor(io_, [&](error_code error, const Outcome&) { result = error; }));
  io_.run();
  EXPECT_EQ(result, make_error_code(ErrorCode::wrong_state));
}

TEST_F(AsyncWait, CancellationLeavesTheProcess) {
  const auto process = start("sleep 30");
  asio::cancellation_signal signal;
  std::optional<error_code> result;
  async_wait(process,
             asio::bind_cancellation_slot(
                 signal.slot(), asio::bind_executor(io_, [&](error_code error, const Outcome&) {
                   result = error;
                 })));
  asio::post(io_, [&] { signal.emit(asio::cancellation_type::terminal); });
  io_.run();
  EXPECT_EQ(result, asio::error::operation_aborted);
  EXPECT_TRUE(process->running());
}

TEST_F(AsyncWait, DeadlineOfTheCallerThenKill) {
  const auto process = start("sleep 30");
  spawn([](std::shared_ptr<Process> p) -> asio::awaitable<void> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 20ms);
    const auto first =
        co_await (async_wait(p, asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    EXPECT_EQ(first.index(), 1U);
    EXPECT_TRUE(p->kill());
    const auto [error, outcome] = co_await async_wait(p, kWithError);
    EXPECT_FALSE(error);
    EXPECT_EQ(outcome.verdict, Verdict::cancelled);
  }(process));
  io_.run();
}

TEST_F(AsyncWait, SeesTheRequestsOwnTimeout) {
  Request request = shell("sleep 30");
  request.timeout = 50ms;
  const auto process = start(std::move(request));
  spawn([](std::shared_ptr<Process> p) -> asio::awaitable<void> {
    EXPECT_EQ((co_await async_wait(p, asio::use_awaitable)).verdict, Verdict::timeout);
  }(process));
  io_.run();
}

TEST_F(AsyncWait, KeepsAProcessThatNobodyElseHolds) {
  std::optional<Outcome> outcome;
  async_wait(start("exit 4"),
             asio::bind_executor(io_, [&](error_code, Outcome o) { outcome = std::move(o); }));
  io_.run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 4);
}

}  // namespace
}  // namespace cordon::asio_test
