// The first test: register a program, run the code under test, look at the outcome.
#include <chrono>

#include "cordon/memory.h"
#include "cordon/run.h"
#include "expect.h"

using namespace std::chrono_literals;

namespace {

// [doc]
// The code under test.
bool compiles(cordon::Manager& manager, const std::string& file) {
  const auto outcome = cordon::run(manager, {.program = "cc", .args = {"-c", file}});
  return outcome.verdict == cordon::Verdict::exited && outcome.exit_code == 0;
}

void a_compiler_that_hangs_is_a_failure() {
  cordon::memory::Manager manager;
  manager.add("cc", cordon::memory::Program().out("reading…\n").hang());

  expect(!compiles(manager, "endless.c"));                   // the default timeout ended it
  expect(manager.clock().now() >= cordon::TimePoint(5min));  // five minutes of virtual time
}

void the_file_is_passed_on() {
  cordon::memory::Manager manager;
  std::vector<std::string> seen;
  manager.add("cc", cordon::memory::Program().step(
                        [&](cordon::memory::Self& self) { seen = self.args(); }));

  expect(compiles(manager, "fine.c"));
  expect(seen == std::vector<std::string>{"-c", "fine.c"});
}
// [/doc]

void no_compiler_is_a_failure() {
  cordon::memory::Manager manager;
  expect(!compiles(manager, "any.c"));
}

}  // namespace

int main() {
  a_compiler_that_hangs_is_a_failure();
  the_file_is_passed_on();
  no_compiler_is_a_failure();
}
