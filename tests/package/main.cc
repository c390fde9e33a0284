// A program of somebody else's that uses Cordon; public headers only.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <utility>

#include "cordon/asio.h"
#include "cordon/run.h"
#include "cordon/version.h"

int main() {
  auto manager = cordon::os_manager();
  if (!manager) return 1;
  auto process = (*manager)->create("true", {});
  if (!process || !(*process)->start()) return 1;

  boost::asio::io_context io;
  cordon::Outcome outcome;
  cordon::async_wait(*process, boost::asio::bind_executor(
                                   io, [&](boost::system::error_code, cordon::Outcome ended) {
                                     outcome = std::move(ended);
                                   }));
  io.run();
  std::cout << "cordon " << cordon::version() << ": " << to_string(outcome.verdict) << '\n';
  return outcome.exit_code == 0 ? 0 : 1;
}
