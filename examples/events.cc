// Output as it comes: one stream of events, tagged stdout and stderr, the last one is the exit.
#include <iostream>

#include "cordon/manager.h"

int main() {
  auto manager = cordon::os_manager();
  if (!manager) {
    std::cerr << manager.error().message << '\n';
    return 1;
  }

  // [doc:events]
  auto process = (*manager)->create("sh", {"-c", "echo working; echo careful >&2; exit 4"});
  if (!process) {
    std::cerr << process.error().message << '\n';
    return 1;
  }
  cordon::EventStream events = (*process)->events();
  if (auto started = (*process)->start(); !started) {
    std::cerr << started.error().message << '\n';
    return 1;
  }
  for (const cordon::Event& event : events) {
    switch (event.kind) {
      case cordon::Event::Kind::out:
        std::cout << "out  " << event.data.view();
        break;
      case cordon::Event::Kind::err:
        std::cout << "err  " << event.data.view();
        break;
      case cordon::Event::Kind::exit:
        std::cout << "exit " << exit_status(*event.outcome) << '\n';
        break;
    }
  }
  // [/doc:events]

  // [doc:status]
  const cordon::Status status = (*process)->status();
  std::cout << "process " << status.id << (status.running ? " runs" : " has ended") << '\n';
  // [/doc:status]
  return status.exit_code == 4 ? 0 : 1;
}
