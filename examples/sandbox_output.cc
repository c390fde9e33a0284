// A program's input and output.
#include <chrono>
#include <iostream>

#include "cordon/sandbox.h"

using namespace std::chrono_literals;

int main() {
  // [doc]
  cordon::Request config;
  config.timeout = 5s;
  config.in = cordon::Input::bytes("from outside\n");
  config.out = cordon::Output::events();  // captured; the default for both
  config.err = cordon::Output::events();

  auto sandbox = cordon::Sandbox::make(config);
  if (!sandbox) return 1;
  const cordon::Outcome result = sandbox->execute("sh", {"-c", "cat; echo output; echo oops >&2"});
  std::cout << "Output: " << result.out;  // from outside, output
  std::cout << "Errors: " << result.err;  // oops
  // [/doc]
  return result.out == "from outside\noutput\n" && result.err == "oops\n" ? 0 : 1;
}
