// Producing every verdict, to test what your code does with each of them.
#include <cerrno>
#include <chrono>
#include <string>

#include "cordon/memory.h"
#include "cordon/run.h"
#include "expect.h"

using namespace std::chrono_literals;
using cordon::Verdict;
using cordon::memory::Program;

namespace {

cordon::Outcome outcome_of(const Program& program) {
  cordon::memory::Manager manager;
  manager.add("job", program);
  // [doc]
  cordon::Request request{.program = "job"};
  request.timeout = 1min;
  request.limits = {.cpu_time = 10s,
                    .memory_bytes = 64 << 20,
                    .file_size_bytes = 1 << 20,
                    .open_files = 256,
                    .processes = 32,
                    .output_bytes = 4096};
  const cordon::Outcome outcome = cordon::run(manager, request);
  // [/doc]
  return outcome;
}

}  // namespace

int main() {
  const auto verdict_of = [](const Program& program) { return outcome_of(program).verdict; };
  expect(verdict_of(Program().exit(3)) == Verdict::exited);
  expect(verdict_of(Program().die(SIGSEGV)) == Verdict::signaled);
  expect(verdict_of(Program().hang()) == Verdict::timeout);
  expect(verdict_of(Program().use_cpu(11s)) == Verdict::cpu_time);
  expect(verdict_of(Program().use_memory(65 << 20)) == Verdict::memory);
  expect(verdict_of(Program().write_file(2 << 20)) == Verdict::file_size);
  expect(verdict_of(Program().flood()) == Verdict::output);
  expect(verdict_of(Program().fail_start(ENOEXEC)) == Verdict::failed_to_start);
  expect(verdict_of(Program().fail_start({cordon::ErrorCode::not_permitted, "policy", 0,
                                          "not on the list"})) == Verdict::denied);

  // A limit that was touched without ending the run.
  const auto forks = outcome_of(Program().fork(40, Program().hang(), Program().exit(1)));
  expect(forks.verdict == Verdict::exited && forks.limits_hit.at(0).name == "processes");
}
