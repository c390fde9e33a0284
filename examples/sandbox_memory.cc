// A program that wants more memory than it may have.
#include <chrono>
#include <iostream>

#include "cordon/sandbox.h"

using namespace std::chrono_literals;

int main() {
  // [doc]
  cordon::Request config;
  config.limits.memory_bytes = 50 * 1024 * 1024;  // 50 MiB, for all its processes together
  config.timeout = 10s;

  auto sandbox = cordon::Sandbox::make(config);
  if (!sandbox) return 1;
  const cordon::Outcome result = sandbox->execute("tail", {"/dev/zero"});  // looks for a line end
  std::cout << "Memory exceeded: " << std::boolalpha << result.memory_exceeded << '\n';  // true
  // [/doc]

  // Without control groups the program may be told by a failing allocation instead.
  const bool enforced = result.enforcement.memory.level == cordon::Guarantee::Level::enforced;
  return result.memory_exceeded || (!enforced && result.exit_code != 0) ? 0 : 1;
}
