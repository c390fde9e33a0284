// A program of somebody else's that uses Cordon; public headers only.
#include <iostream>

#include "cordon/asio.h"
#include "cordon/memory.h"
#include "cordon/run.h"
#include "cordon/version.h"

int main() {
  std::cout << "cordon " << cordon::version() << '\n';

  const cordon::Outcome real = cordon::run("echo", {"hello"});
  std::cout << real.out << to_json(real) << '\n';

  cordon::memory::Manager manager;
  manager.add("worker", cordon::memory::Program().out("scripted\n").exit(3));
  const cordon::Outcome scripted = run(manager, {.program = "worker"});
  std::cout << scripted.out << to_json(scripted) << '\n';

  return real.out == "hello\n" && scripted.exit_code == 3 ? 0 : 1;
}
