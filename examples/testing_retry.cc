// Testing code that runs a program again when it fails, pauses included, in no time.
#include <chrono>

#include "cordon/memory.h"
#include "cordon/run.h"
#include "expect.h"

using namespace std::chrono_literals;

namespace {

// [doc]
// The code under test: it asks for a Manager, and takes the time from it.
cordon::Outcome run_with_retries(cordon::Manager& manager, const cordon::Request& request,
                                 int attempts, cordon::Duration pause) {
  for (;;) {
    cordon::Outcome outcome = cordon::run(manager, request);
    if (outcome.exit_code == 0 || --attempts == 0) return outcome;
    manager.clock().sleep_until(manager.clock().now() + pause);
  }
}

void retries_until_it_works() {
  cordon::memory::Manager manager;
  const auto fails = cordon::memory::Program().err("connection refused\n").exit(1);
  const auto works = cordon::memory::Program().sleep(2s).out("uploaded\n");
  manager.add_sequence("upload", {fails, fails, works});

  const auto outcome = run_with_retries(manager, {.program = "upload"}, 5, 30s);

  expect(outcome.exit_code == 0);
  expect(outcome.out == "uploaded\n");
  expect(manager.clock().now() == cordon::TimePoint(62s));  // two pauses and the upload
}
// [/doc]

void gives_up_in_the_end() {
  cordon::memory::Manager manager;
  manager.add("upload", cordon::memory::Program().exit(1));
  expect(run_with_retries(manager, {.program = "upload"}, 3, 30s).exit_code == 1);
  expect(manager.clock().now() == cordon::TimePoint(60s));
}

}  // namespace

int main() {
  retries_until_it_works();
  gives_up_in_the_end();
}
