// Limits end a run, and the outcome says which one, what was observed and what to change.
#include <chrono>
#include <iostream>

#include "cordon/run.h"

using namespace std::chrono_literals;

namespace {

void tell(const cordon::Outcome& outcome) {
  // [doc:verdict]
  std::cout << to_string(outcome.verdict);
  if (outcome.limit) {
    std::cout << ": limit " << outcome.limit->limit << ", known from " << outcome.limit->evidence;
  }
  std::cout << ". " << outcome.hint << '\n';
  // [/doc:verdict]
}

}  // namespace

int main() {
  // [doc:timeout]
  cordon::Request slow;
  slow.program = "sleep";
  slow.args = {"30"};
  slow.timeout = 100ms;
  slow.grace = 1s;  // between SIGTERM and SIGKILL
  const cordon::Outcome timed_out = cordon::run(slow);
  // [/doc:timeout]
  tell(timed_out);

  // [doc:limits]
  cordon::Request greedy;
  greedy.program = "sh";
  greedy.args = {"-c", "while :; do :; done"};
  greedy.limits.cpu_time = 200ms;  // processor time, not wall-clock time
  greedy.limits.memory_bytes = 256 * 1024 * 1024;
  greedy.limits.open_files = 64;
  greedy.limits.output_bytes = 1024 * 1024;
  const cordon::Outcome stopped = cordon::run(greedy);
  // [/doc:limits]
  tell(stopped);

  // [doc:enforcement]
  std::cout << "memory:     " << describe(stopped.enforcement.memory) << '\n';
  std::cout << "filesystem: " << describe(stopped.enforcement.filesystem) << '\n';
  // [/doc:enforcement]

  return timed_out.verdict == cordon::Verdict::timeout &&
                 stopped.verdict == cordon::Verdict::cpu_time
             ? 0
             : 1;
}
