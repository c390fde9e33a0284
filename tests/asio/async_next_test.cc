#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "asio/fixture.h"

namespace cordon::asio_test {
namespace {

using namespace asio::experimental::awaitable_operators;  // NOLINT(google-build-using-namespace)

using AsyncNext = AsioTest;

asio::awaitable<void> collect(EventStream stream, std::vector<Event>& all) {
  while (auto event = co_await async_next(stream, asio::use_awaitable)) {
    all.push_back(std::move(*event));
  }
}

TEST_F(AsyncNext, DeliversTaggedOutputInOrderThenExit) {
  Request request = shell("echo one; read x; echo two >&2; read x; echo three; exit 7");
  request.in = Input::pipe();
  request.out.framing.mode = OutputMode::line;
  request.err.framing.mode = OutputMode::line;
  const auto process = start(std::move(request));

  std::vector<Event> all;
  spawn([](std::shared_ptr<Process> p, std::vector<Event>& got) -> asio::awaitable<void> {
    EventStream stream = p->events();
    while (auto event = co_await async_next(stream, asio::use_awaitable)) {
      got.push_back(*event);
      // The next line is asked for only now, so the order between the streams is certain.
      if (event->kind != Event::Kind::exit) (void)p->write_stdin("\n");
    }
  }(process, all));
  io_.run();

  ASSERT_EQ(all.size(), 4U);
  const std::vector<Event::Kind> kinds{all[0].kind, all[1].kind, all[2].kind, all[3].kind};
  using enum Event::Kind;
  EXPECT_EQ(kinds, (std::vector{out, err, out, exit}));
  EXPECT_EQ(all[0].data.view(), "one");
  EXPECT_EQ(all[1].data.view(), "two");
  EXPECT_EQ(all[2].data.view(), "three");
  for (std::uint64_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].sequence, i);
  ASSERT_TRUE(all[3].outcome);
  EXPECT_EQ(all[3].outcome->exit_code, 7);
}

TEST_F(AsyncNext, KeepsSayingNothingAfterTheEnd) {
  const auto process = start("exit 0");
  spawn([](std::shared_ptr<Process> p) -> asio::awaitable<void> {
    EventStream stream = p->events();
    const auto exit = co_await async_next(stream, asio::use_awaitable);
    EXPECT_TRUE(exit && exit->kind == Event::Kind::exit);
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(co_await async_next(stream, asio::use_awaitable));
    }
  }(process));
  io_.run();
}

TEST_F(AsyncNext, FailsOnAProcessThatIsNotStarted) {
  const auto process = create(shell("echo hello"));
  spawn([](std::shared_ptr<Process> p) -> asio::awaitable<void> {
    EventStream stream = p->events();
    const auto [error, event] = co_await async_next(stream, kWithError);
    EXPECT_EQ(error, ErrorCode::wrong_state);
    EXPECT_EQ(error.message(), "wrong_state");
    EXPECT_FALSE(event);
  }(process));
  io_.run();
}

TEST_F(AsyncNext, DeliversTheFailureToStart) {
  Request request;
  request.program = "/no/such/program";
  const auto process = create(std::move(request));
  std::vector<Event> all;
  spawn(collect(process->events(), all));
  ASSERT_FALSE(process->start());
  io_.run();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].outcome->verdict, Verdict::failed_to_start);
}

TEST_F(AsyncNext, DeliversEveryByteOfAFlood) {
  const auto process = start("head -c 5000000 /dev/zero; head -c 3000000 /dev/zero >&2");
  std::vector<Event> all;
  spawn(collect(process->events(), all));
  io_.run();
  std::size_t out = 0;
  std::size_t err = 0;
  for (const Event& event : all) (event.kind == Event::Kind::out ? out : err) += event.data.size();
  EXPECT_EQ(out, 5'000'000U);
  EXPECT_EQ(err, 3'000'000U);
  EXPECT_EQ(all.back().dropped, 0U);
}

TEST_F(AsyncNext, LeavesTheLoopFreeForOthersDuringAFlood) {
  const auto process = start("yes");
  asio::steady_timer timer(io_, 50ms);
  timer.async_wait([&](error_code) { ASSERT_TRUE(process->kill()); });
  std::vector<Event> all;
  spawn([](EventStream stream, std::vector<Event>& last) -> asio::awaitable<void> {
    while (auto event = co_await async_next(stream, asio::use_awaitable)) {
      if (event->kind == Event::Kind::exit) last.push_back(*event);
    }
  }(process->events(), all));
  io_.run();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].outcome->verdict, Verdict::cancelled);
}

TEST_F(AsyncNext, CancellationTakesNoEventAndLeavesTheProcess) {
  Request request = shell("read line; echo \"$line\"");
  request.in = Input::pipe();
  const auto process = start(std::move(request));
  EventStream stream = process->events();

  asio::cancellation_signal signal;
  std::optional<error_code> result;
  async_next(stream,
             asio::bind_cancellation_slot(
                 signal.slot(), asio::bind_executor(io_, [&](error_code error, const auto& event) {
                   result = error;
                   EXPECT_FALSE(event);
                 })));
  asio::post(io_, [&] { signal.emit(asio::cancellation_type::total); });
  io_.run();
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, asio::error::operation_aborted);
  EXPECT_TRUE(process->running());

  ASSERT_TRUE(process->write_stdin("still here\n"));
  std::vector<Event> all;
  spawn(collect(std::move(stream), all));
  io_.restart();
  io_.run();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].data.view(), "still here\n");
}

TEST_F(AsyncNext, CancellationAfterReadinessLosesNoEvent) {
  const auto process = start("echo kept");
  ASSERT_TRUE(process->wait());
  EventStream stream = process->events();
  asio::cancellation_signal signal;
  std::optional<error_code> result;
  // The event is at hand, so the completion is queued before the signal is emitted.
  async_next(stream,
             asio::bind_cancellation_slot(
                 signal.slot(),
                 asio::bind_executor(io_, [&](error_code error, const auto&) { result = error; })));
  signal.emit(asio::cancellation_type::terminal);
  io_.run();
  EXPECT_EQ(result, asio::error::operation_aborted);
  EXPECT_EQ(stream.next()->data.view(), "kept\n");
}

TEST_F(AsyncNext, TimesOutWithAwaitableOperatorsAndGoesOn) {
  Request request = shell("read line; echo \"$line\"");
  request.in = Input::pipe();
  const auto process = start(std::move(request));
  spawn([](std::shared_ptr<Process> p) -> asio::awaitable<void> {
    EventStream stream = p->events();
    asio::steady_timer timer(co_await asio::this_coro::executor, 20ms);
    auto first =
        co_await (async_next(stream, asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    EXPECT_EQ(first.index(), 1U);
    EXPECT_TRUE(p->running());

    EXPECT_TRUE(p->write_stdin("now\n"));
    timer.expires_after(30s);
    auto second =
        co_await (async_next(stream, asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    EXPECT_EQ(second.index(), 0U);
    EXPECT_EQ(std::get<0>(second)->data.view(), "now\n");
  }(process));
  io_.run();
}

TEST_F(AsyncNext, SecondReaderOfTheProcessEndsTheFirstsWait) {
  const auto process = start("sleep 30");
  EventStream first = process->events();
  EventStream second = process->events();
  std::vector<error_code> results;
  const auto record = [&](error_code error, const auto&) {
    results.push_back(error);
    if (results.size() == 1) (void)process->kill();
  };
  async_next(first, asio::bind_executor(io_, record));
  async_next(second, asio::bind_executor(io_, record));
  io_.run();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0], asio::error::operation_aborted);
  EXPECT_FALSE(results[1]);
}

TEST_F(AsyncNext, DestroyingTheStreamEndsTheWait) {
  const auto process = start("sleep 30");
  std::optional<EventStream> stream(process->events());
  std::optional<error_code> result;
  async_next(*stream,
             asio::bind_executor(io_, [&](error_code error, const auto&) { result = error; }));
  stream.reset();
  io_.run();
  EXPECT_EQ(result, asio::error::operation_aborted);
}

TEST_F(AsyncNext, DestroyingTheContextDropsTheOperation) {
  const auto process = start("sleep 30");
  EventStream stream = process->events();
  const auto alive = std::make_shared<int>(0);
  bool called = false;
  {
    asio::io_context io;
    async_next(stream, asio::bind_executor(
                           io, [&called, alive](error_code, const auto&) { called = true; }));
    asio::co_spawn(
        io,
        [](std::shared_ptr<Process> p, std::shared_ptr<int>) -> asio::awaitable<void> {
          EventStream own = p->events();
          (void)co_await async_next(own, asio::use_awaitable);
        }(start("sleep 30"), alive),
        [alive](const std::exception_ptr&) {});
    io.poll();
    EXPECT_GT(alive.use_count(), 1);
  }
  EXPECT_EQ(alive.use_count(), 1);
  // The process has something to say, and nobody listens any more.
  ASSERT_TRUE(process->kill());
  ASSERT_TRUE(process->wait());
  EXPECT_FALSE(called);
  EXPECT_EQ(stream.next()->kind, Event::Kind::exit);
}

TEST_F(AsyncNext, DestroyingTheManagerCompletesTheOperation) {
  auto process = start("sleep 30");
  std::vector<Event> all;
  spawn(collect(process->events(), all));
  process.reset();
  io_.poll();
  std::thread destroyer([this] { manager_.reset(); });
  io_.run();
  destroyer.join();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].outcome->verdict, Verdict::cancelled);
}

TEST_F(AsyncNext, RunsTheHandlerOnItsExecutorAndNotInsideTheCall) {
  const auto process = start("echo x");
  ASSERT_TRUE(process->wait());
  EventStream stream = process->events();
  bool called = false;
  std::thread::id on;
  async_next(stream, asio::bind_executor(io_, [&](error_code, const auto&) {
               called = true;
               on = std::this_thread::get_id();
             }));
  EXPECT_FALSE(called);
  std::thread loop([&] { io_.run(); });
  const auto expected = loop.get_id();
  loop.join();
  EXPECT_TRUE(called);
  EXPECT_EQ(on, expected);
}

TEST_F(AsyncNext, WorksWithFuturesAndThreadPools) {
  asio::thread_pool pool(2);
  const auto process = start("echo x");
  EventStream stream = process->events();
  auto future = async_next(stream, asio::bind_executor(pool, asio::use_future));
  EXPECT_EQ(future.get()->data.view(), "x\n");
  pool.join();
}

}  // namespace
}  // namespace cordon::asio_test
