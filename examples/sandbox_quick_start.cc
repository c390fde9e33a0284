// A sandbox for a program: limits, a run, the result.
#include <chrono>
#include <iostream>

#include "cordon/sandbox.h"

using namespace std::chrono_literals;

int main() {
  // [doc]
  cordon::Request config;
  config.timeout = 5s;
  config.limits.memory_bytes = 100 * 1024 * 1024;          // 100 MiB
  config.limits.cpu_millicores = cordon::cpu_percent(50);  // of one core
  config.limits.processes = 10;

  auto sandbox = cordon::Sandbox::make(config);  // by the backend of this OS
  if (!sandbox) {
    std::cerr << sandbox.error().message << '\n';  // why this host cannot isolate
    return 1;
  }
  const cordon::Outcome result = sandbox->execute("echo", {"Hello, Sandbox!"});
  if (result.error) std::cerr << result.error->message << '\n';

  std::cout << result.out;
  std::cout << "Exit code:      " << result.exit_code.value_or(-1) << '\n';
  std::cout << "Execution time: " << result.wall / 1ms << " ms\n";
  std::cout << "Timed out:      " << std::boolalpha << result.timed_out << '\n';
  // [/doc]
  return result.out == "Hello, Sandbox!\n" && result.exit_code == 0 && !result.timed_out ? 0 : 1;
}
