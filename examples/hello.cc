// The simple case: run a program, get its output and the verdict.
#include <iostream>

#include "cordon/run.h"

int main() {
  // [doc:run]
  const cordon::Outcome outcome = cordon::run("sh", {"-c", "echo hello; echo oops >&2; exit 3"});
  std::cout << "stdout:  " << outcome.out;                             // hello
  std::cout << "stderr:  " << outcome.err;                             // oops
  std::cout << "verdict: " << to_string(outcome.verdict) << '\n';      // exited
  std::cout << "code:    " << outcome.exit_code.value_or(-1) << '\n';  // 3
  // [/doc:run]

  // [doc:not_found]
  const cordon::Outcome missing = cordon::run("no-such-program");
  if (missing.verdict == cordon::Verdict::failed_to_start) {
    std::cout << missing.error->message << '\n';
  }
  // [/doc:not_found]

  const bool as_promised = outcome.out == "hello\n" && outcome.err == "oops\n" &&
                           outcome.exit_code == 3 && exit_status(missing) == 127;
  return as_promised ? 0 : 1;
}
