// The variables a program sees.
#include <chrono>
#include <iostream>

#include "cordon/sandbox.h"

using namespace std::chrono_literals;

int main() {
  // [doc]
  cordon::Request config;
  config.timeout = 5s;
  config.env = {{"CUSTOM_VAR", "value"}, {"PATH", "/usr/bin"}};
  config.env_pass = {};  // none of the caller's

  auto sandbox = cordon::Sandbox::make(config);
  if (!sandbox) return 1;
  const cordon::Outcome result = sandbox->execute("printenv", {"CUSTOM_VAR"});
  std::cout << result.out;  // value
  // [/doc]
  const cordon::Outcome all = sandbox->execute("env");
  return result.out == "value\n" && all.out == "CUSTOM_VAR=value\nPATH=/usr/bin\n" ? 0 : 1;
}
