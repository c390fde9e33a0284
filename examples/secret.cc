// A secret for one program: its bytes are in no argument, no variable and no helper.
#include <iostream>
#include <string>

#include "cordon/run.h"

int main() {
  const std::string bytes = "hunter2";
  // [doc]
  auto token = cordon::SecretValue::copy_of(bytes);  // yours to wipe: this is a copy
  if (!token) return 1;
  cordon::Request request;
  request.program = "sh";
  request.args = {"-c", "wc -c <&$TOKEN_FD"};
  request.cwd = "/usr";
  request.secrets = {{"TOKEN", *token, cordon::Secret::Delivery::fd}};
  const cordon::Outcome outcome = cordon::run(request);
  std::cout << outcome.out;  // 7
  // [/doc]
  return outcome.out == "7\n" ? 0 : 1;
}
