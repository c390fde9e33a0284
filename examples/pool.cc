// Sandboxes that are ready before they are asked for.
#include "cordon/pool.h"

#include <iostream>

#include "cordon/run.h"

int main() {
  // [doc]
  auto pool = cordon::Pool::make({.size = 4});
  if (!pool) return 1;
  cordon::Request request;
  request.program = "sh";
  request.args = {"-c", "echo ready"};
  request.cwd = "/usr";
  if (!(*pool)->warm(request, 2)) return 1;  // two for requests like this one
  const cordon::Outcome outcome = cordon::run((*pool)->manager(), request);
  std::cout << outcome.out << to_string(outcome.launch) << '\n';  // ready, warm
  // [/doc]
  return outcome.launch == cordon::Launch::warm && outcome.out == "ready\n" ? 0 : 1;
}
