// A program that takes too long.
#include <chrono>
#include <iostream>

#include "cordon/sandbox.h"

using namespace std::chrono_literals;

int main() {
  // [doc]
  cordon::Request config;
  config.timeout = 200ms;

  auto sandbox = cordon::Sandbox::make(config);
  if (!sandbox) return 1;
  const cordon::Outcome result = sandbox->execute("sleep", {"10"});
  std::cout << "Timed out: " << std::boolalpha << result.timed_out << '\n';  // true
  // [/doc]
  return result.timed_out && result.wall < 5s ? 0 : 1;
}
