// Ending a run from outside: with a stop token, or through the process.
#include <chrono>
#include <iostream>
#include <stop_token>
#include <thread>

#include "cordon/run.h"

using namespace std::chrono_literals;

int main() {
  auto manager = cordon::os_manager();
  if (!manager) return 1;

  // [doc:stop_token]
  std::stop_source stop;
  cordon::Request request;
  request.program = "sleep";
  request.args = {"30"};
  request.cancel = stop.get_token();
  const std::jthread other([&stop] { stop.request_stop(); });
  const cordon::Outcome cancelled = cordon::run(**manager, request);
  std::cout << to_string(cancelled.verdict) << '\n';  // cancelled
  // [/doc:stop_token]

  // [doc:terminate]
  auto process = (*manager)->create("sleep", {"30"});
  if (!process || !(*process)->start()) return 1;
  if (!(*process)->terminate(2s)) return 1;  // SIGTERM to all of it now, SIGKILL in two seconds
  auto outcome = (*process)->wait();
  // [/doc:terminate]
  return cancelled.verdict == cordon::Verdict::cancelled && outcome &&
                 outcome->verdict == cordon::Verdict::cancelled
             ? 0
             : 1;
}
