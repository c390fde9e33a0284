// A conversation with a program: write a line, read its answer.
#include <iostream>
#include <string>

#include "cordon/manager.h"

int main() {
  auto manager = cordon::os_manager();
  if (!manager) return 1;

  // [doc:conversation]
  cordon::Request request;
  request.program = "sh";
  request.args = {"-c", R"(while read -r line; do echo "you said $line"; done)"};
  request.in = cordon::Input::pipe();
  request.out = cordon::Output::events({.mode = cordon::OutputMode::line});

  auto process = (*manager)->create(request);
  if (!process || !(*process)->start()) return 1;
  cordon::EventStream events = (*process)->events();
  for (const std::string word : {"one", "two"}) {
    if (auto written = (*process)->write_stdin(word + "\n"); !written) {
      std::cerr << written.error().message << '\n';  // the program closed its stdin
      return 1;
    }
    if (auto answer = events.next()) std::cout << answer->data.view() << '\n';
  }
  if (!(*process)->close_stdin()) return 1;  // the program sees end of file
  auto outcome = (*process)->wait();
  // [/doc:conversation]
  return outcome && outcome->exit_code == 0 ? 0 : 1;
}
