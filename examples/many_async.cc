// Many processes on one thread: a coroutine for each, on a Boost.Asio io_context.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "cordon/asio.h"
#include "cordon/manager.h"

namespace asio = boost::asio;

namespace {

// [doc:coroutine]
asio::awaitable<void> collect(std::shared_ptr<cordon::Process> process, std::string& output) {
  cordon::EventStream events = process->events();
  while (auto event = co_await cordon::async_next(events, asio::use_awaitable)) {
    if (event->kind == cordon::Event::Kind::out) output += event->data.view();
  }
}
// [/doc:coroutine]

// [doc:wait]
asio::awaitable<void> wait(std::shared_ptr<cordon::Process> process, int& ended) {
  const cordon::Outcome outcome = co_await cordon::async_wait(process, asio::use_awaitable);
  if (outcome.verdict == cordon::Verdict::exited) ++ended;
}
// [/doc:wait]

}  // namespace

int main() {
  auto manager = cordon::os_manager();
  if (!manager) return 1;
  constexpr int kProcesses = 100;

  asio::io_context io;
  std::string output;  // of all; everything runs on this thread
  int ended = 0;
  for (int i = 0; i < kProcesses; ++i) {
    auto talker = (*manager)->create("echo", {std::to_string(i)});
    auto silent = (*manager)->create("true", {});
    if (!talker || !silent || !(*talker)->start() || !(*silent)->start()) return 1;
    asio::co_spawn(io, collect(*talker, output), asio::detached);
    asio::co_spawn(io, wait(*silent, ended), asio::detached);
  }
  io.run();

  std::cout << output.size() << " bytes of output, " << ended << " waited for\n";
  return output.size() == 290 && ended == kProcesses ? 0 : 1;  // 10 * "n\n", 90 * "nn\n"
}
