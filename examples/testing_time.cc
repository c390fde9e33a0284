// Moving time by hand: looking at what happens between two instants.
#include <chrono>
#include <string>

#include "cordon/memory.h"
#include "expect.h"

using namespace std::chrono_literals;

namespace {

// The code under test: shows how a job is doing.
std::string describe(cordon::Process& job) {
  const cordon::Status status = job.status();
  if (!status.running) return "ended with " + std::to_string(status.exit_code.value_or(-1));
  return std::to_string(static_cast<int>(status.cpu_percent.value_or(0))) + " % cpu, " +
         std::to_string(status.memory_bytes.value_or(0) >> 20) + " MiB";
}

}  // namespace

int main() {
  // [doc]
  cordon::memory::Manager manager({.self_advancing = false});
  manager.add("job", cordon::memory::Program()
                         .use_memory(30 << 20)
                         .use_cpu(2s)
                         .sleep(2s)
                         .use_memory(10 << 20)
                         .hang());
  const auto job = *manager.create("job", {});
  expect(job->start().has_value());

  manager.advance(1s);
  expect(describe(*job) == "100 % cpu, 30 MiB");
  manager.advance(3s);
  expect(describe(*job) == "33 % cpu, 10 MiB");  // one of these three seconds was work
  // [/doc]
  manager.advance(1h);
  expect(describe(*job) == "ended with -1");
}
