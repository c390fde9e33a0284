// A workspace that lives longer than one program, suspended and woken again; here on scripted
// programs, as a test would do it.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "cordon/memory.h"
#include "cordon/sandbox.h"
#include "expect.h"

using namespace std::chrono_literals;

namespace {

// [doc:code]
// The code under test: keeps a workspace for an agent, and does its steps in there.
class Workspace {
 public:
  explicit Workspace(cordon::Sandbox sandbox) : sandbox_(std::move(sandbox)) {}

  // Wakes it from `image`, if there is one.
  cordon::Result<void> open(const std::filesystem::path& image) {
    return std::filesystem::exists(image) ? sandbox_.restore(image) : sandbox_.create();
  }
  // What the step printed; or why there is none.
  std::string step(const std::string& program) {
    const cordon::Outcome outcome = sandbox_.execute(program);  // inside, beside the main program
    return outcome.error ? outcome.error->message : outcome.out;
  }
  // Everything inside is in the image afterwards, and nothing of it runs.
  cordon::Result<void> suspend(const std::filesystem::path& image) {
    return sandbox_.checkpoint(image);
  }
  cordon::SandboxState state() const { return sandbox_.state(); }

 private:
  cordon::Sandbox sandbox_;
};
// [/doc:code]

}  // namespace

int main() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("cordon-long-lived-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::filesystem::path image = folder / "image";

  // [doc:test]
  cordon::memory::Manager manager;
  manager.add("agent", cordon::memory::Program().hang());  // until it is stopped
  manager.add("build", cordon::memory::Program().sleep(3min).out("built\n"));
  const cordon::Request request{.program = "agent"};

  Workspace workspace(cordon::Sandbox(manager, request, "work"));
  expect(workspace.open(image).has_value());
  expect(workspace.step("build") == "built\n");  // three minutes, none of yours
  expect(workspace.suspend(image).has_value());
  expect(workspace.state() == cordon::SandboxState::checkpointed);
  std::cout << workspace.step("build") << '\n';  // says what is possible instead

  Workspace again(cordon::Sandbox(manager, request, "work"));
  expect(again.open(image).has_value());
  expect(again.step("build") == "built\n");
  // [/doc:test]

  // [doc:concurrent]
  cordon::Sandbox sandbox(manager, request, "other");
  expect(sandbox.create().has_value());
  auto one = sandbox.execute(cordon::Request{.program = "build"});
  auto two = sandbox.execute(cordon::Request{.program = "build"});
  expect(one && two);
  for (const auto& process : sandbox.processes()) {  // the main program first
    std::cout << process->id() << (process->running() ? " runs\n" : " has ended\n");
  }
  expect((*one)->wait()->exit_code == 0);
  expect(sandbox.stop(5s).has_value());  // ends the main program, and with it everything inside
  expect(sandbox.remove().has_value());
  // [/doc:concurrent]

  std::filesystem::remove_all(folder);
  return EXIT_SUCCESS;
}
