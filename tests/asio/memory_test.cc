// asio.h on scripted processes in virtual time: no real process, no real waiting.
#include "cordon/memory.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "asio/fixture.h"

namespace cordon::asio_test {
namespace {

using memory::Program;

class AsyncMemory : public ::testing::Test {
 protected:
  std::shared_ptr<Process> start(memory::Manager& manager, Program program, Request request = {}) {
    manager.add("program", std::move(program));
    request.program = "program";
    auto process = manager.create(std::move(request)).value();
    EXPECT_TRUE(process->start());
    return process;
  }

  asio::io_context io_{1};
};

asio::awaitable<void> transcribe(std::shared_ptr<Process> process, std::string& text) {
  EventStream stream = process->events();
  while (auto event = co_await async_next(stream, asio::use_awaitable)) {
    text += std::string(to_string(event->kind)) + " " + event->data.str() + "\n";
  }
}

TEST_F(AsyncMemory, DeliversTaggedOutputInOrderThenExit) {
  memory::Manager manager;
  const auto process =
      start(manager, Program().out("one").sleep(1s).err("two").sleep(1s).out("three").exit(7));
  std::string text;
  asio::co_spawn(io_, transcribe(process, text), asio::detached);
  io_.run();
  EXPECT_EQ(text, "stdout one\nstderr two\nstdout three\nexit \n");
  EXPECT_EQ(process->exit_code(), 7);
}

TEST_F(AsyncMemory, FiveMinuteTimeoutTakesNoTime) {  // C30
  memory::Manager manager;
  const auto process = start(manager, Program().hang());
  std::optional<Outcome> outcome;
  async_wait(process,
             asio::bind_executor(io_, [&](error_code, Outcome o) { outcome = std::move(o); }));
  io_.run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::timeout);
  EXPECT_EQ(outcome->wall, kDefaultTimeout);
}

TEST_F(AsyncMemory, FailsOnAProcessThatIsNotStarted) {
  memory::Manager manager;
  manager.add("program", Program().exit(0));
  const auto process = manager.create("program", {}).value();
  EventStream stream = process->events();
  std::vector<error_code> results;
  async_next(stream, asio::bind_executor(
                         io_, [&](error_code error, const auto&) { results.push_back(error); }));
  io_.run();
  async_wait(process, asio::bind_executor(io_, [&](error_code error, const Outcome&) {
               results.push_back(error);
             }));
  io_.restart();
  io_.run();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0], ErrorCode::wrong_state);
  EXPECT_EQ(results[1], ErrorCode::wrong_state);
}

TEST_F(AsyncMemory, CancellationLeavesTheProcess) {
  memory::Manager manager(memory::Options{.self_advancing = false});
  const auto process = start(manager, Program().sleep(1s).out("late"));
  EventStream stream = process->events();
  asio::cancellation_signal signal;
  std::optional<error_code> result;
  async_next(stream,
             asio::bind_cancellation_slot(
                 signal.slot(),
                 asio::bind_executor(io_, [&](error_code error, const auto&) { result = error; })));
  asio::post(io_, [&] { signal.emit(asio::cancellation_type::terminal); });
  io_.run();
  EXPECT_EQ(result, asio::error::operation_aborted);
  EXPECT_TRUE(process->running());
  manager.advance(2s);
  EXPECT_EQ(stream.next()->data.view(), "late");
}

TEST_F(AsyncMemory, AnotherThreadMovesTime) {
  memory::Manager manager(memory::Options{.self_advancing = false});
  const auto process = start(manager, Program().sleep(1s).out("a").sleep(1s).out("b"));
  std::string text;
  asio::co_spawn(io_, transcribe(process, text), asio::detached);
  std::thread mover([&] {
    while (!process->outcome()) manager.advance(100ms);
  });
  io_.run();
  mover.join();
  EXPECT_EQ(text, "stdout a\nstdout b\nexit \n");
}

TEST_F(AsyncMemory, ThousandsOfProcessesOnOneThread) {
  constexpr int kProcesses = 5000;
  memory::Manager manager;
  manager.add("program", Program().out("x").sleep(1s).out("y"));
  std::string text;
  std::vector<std::shared_ptr<Process>> all;
  for (int i = 0; i < kProcesses; ++i) {
    all.push_back(manager.create("program", {}).value());
    ASSERT_TRUE(all.back()->start());
    asio::co_spawn(
        io_,
        [](std::shared_ptr<Process> process, std::string& bytes) -> asio::awaitable<void> {
          EventStream stream = process->events();
          while (auto event = co_await async_next(stream, asio::use_awaitable)) {
            bytes += event->data.view();
          }
        }(all.back(), text),
        asio::detached);
  }
  io_.run();
  EXPECT_EQ(text.size(), 2U * kProcesses);
}

TEST_F(AsyncMemory, DestroyingTheContextDropsTheOperation) {
  memory::Manager manager(memory::Options{.self_advancing = false});
  const auto process = start(manager, Program().sleep(1s).out("late"));
  const auto alive = std::make_shared<int>(0);
  {
    asio::io_context io;
    async_wait(process, asio::bind_executor(io, [alive](error_code, const Outcome&) {}));
    EXPECT_GT(alive.use_count(), 1);
  }
  EXPECT_EQ(alive.use_count(), 1);
  manager.advance(2s);
  EventStream stream = process->events();
  EXPECT_EQ(stream.next()->data.view(), "late");
}

}  // namespace
}  // namespace cordon::asio_test
