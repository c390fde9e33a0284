// Framing: stdout as JSON values, stderr as lines, whatever the blocks they arrive in.
#include <iostream>

#include "cordon/manager.h"

int main() {
  auto manager = cordon::os_manager();
  if (!manager) return 1;

  // [doc:framing]
  cordon::Request request;
  request.program = "sh";
  request.args = {"-c", R"(printf '{"n": 1}{"n":'; printf '2}\nnot json\n'; echo note >&2)"};
  request.out = cordon::Output::events({.mode = cordon::OutputMode::json});
  request.err = cordon::Output::events({.mode = cordon::OutputMode::line});
  // [/doc:framing]

  auto process = (*manager)->create(request);
  if (!process || !(*process)->start()) return 1;
  int values = 0;
  int invalid = 0;
  int lines = 0;
  // [doc:read]
  for (const cordon::Event& event : (*process)->events()) {
    if (event.kind == cordon::Event::Kind::out && event.invalid) {
      std::cout << "not JSON: " << event.data.view() << '\n';
      ++invalid;
    } else if (event.kind == cordon::Event::Kind::out) {
      std::cout << "value: " << event.data.view() << '\n';  // {"n": 1}, then {"n":2}
      ++values;
    } else if (event.kind == cordon::Event::Kind::err) {
      std::cout << "line: " << event.data.view() << '\n';  // note, without its newline
      ++lines;
    }
  }
  // [/doc:read]
  return values == 2 && invalid == 1 && lines == 1 ? 0 : 1;
}
