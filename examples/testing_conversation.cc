// Testing code that talks with a program through stdin and stdout.
#include <chrono>
#include <optional>
#include <string>

#include "cordon/memory.h"
#include "expect.h"

using namespace std::chrono_literals;

namespace {

// [doc]
// The code under test: asks a server one question; no answer within a second is no answer.
std::optional<std::string> ask(cordon::Manager& manager, const std::string& question) {
  cordon::Request request{.program = "server"};
  request.in = cordon::Input::pipe();
  request.out = cordon::Output::events({.mode = cordon::OutputMode::line});
  const auto server = manager.create(request);
  if (!server || !(*server)->start()) return std::nullopt;
  cordon::EventStream events = (*server)->events();
  std::optional<std::string> answer;
  if ((*server)->write_stdin(question + "\n")) {
    const auto event = events.next_for(1s);
    if (event && *event && (*event)->kind == cordon::Event::Kind::out) {
      answer = (*event)->data.str();
    }
  }
  (void)(*server)->terminate(500ms);
  (void)(*server)->wait();
  return answer;
}

void answers_come_back() {
  cordon::memory::Manager manager;
  manager.add("server", cordon::memory::Program().each_line(
                            [](cordon::memory::Self& self, std::string_view line) {
                              self.sleep(200ms).out("you said " + std::string(line) + "\n");
                            }));

  expect(ask(manager, "hello") == "you said hello");
}

void a_silent_server_is_stopped_even_if_it_ignores_us() {
  cordon::memory::Manager manager;
  manager.add("server", cordon::memory::Program()
                            .ignore(SIGTERM)
                            .fork(cordon::memory::Program().ignore(SIGTERM).hang())
                            .hang());

  expect(ask(manager, "hello") == std::nullopt);
  expect(manager.clock().now() == cordon::TimePoint(1500ms));  // the second and the grace
  expect(manager.live_programs() == 0);                        // its child is gone, too
}
// [/doc]

void a_server_that_crashes_is_no_answer() {
  cordon::memory::Manager manager;
  manager.add("server", cordon::memory::Program().sleep(10ms).die(SIGSEGV));
  expect(ask(manager, "hello") == std::nullopt);
}

}  // namespace

int main() {
  answers_come_back();
  a_silent_server_is_stopped_even_if_it_ignores_us();
  a_server_that_crashes_is_no_answer();
}
