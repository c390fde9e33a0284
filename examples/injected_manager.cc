// Code that takes a Manager& runs real processes in production and scripted ones in its tests.
#include <chrono>
#include <iostream>
#include <string>

#include "cordon/memory.h"
#include "cordon/run.h"

using namespace std::chrono_literals;

namespace {

// [doc:code]
// The code under test: the kernel's name, or "unknown" when `uname` does not tell within 5 s.
std::string kernel_name(cordon::Manager& manager) {
  cordon::Request request;
  request.program = "uname";
  request.timeout = 5s;
  const cordon::Outcome outcome = cordon::run(manager, request);
  if (outcome.verdict != cordon::Verdict::exited || outcome.exit_code != 0) return "unknown";
  return outcome.out.substr(0, outcome.out.find('\n'));
}
// [/doc:code]

}  // namespace

int main() {
  // [doc:real]
  auto manager = cordon::os_manager();
  if (!manager) return 1;
  std::cout << kernel_name(**manager) << '\n';
  // [/doc:real]

  // [doc:scripted]
  cordon::memory::Manager scripted;
  scripted.add_sequence(
      "uname", {cordon::memory::Program().out("Plan9\n"), cordon::memory::Program().hang()});
  const bool answers = kernel_name(scripted) == "Plan9";
  const bool hangs = kernel_name(scripted) == "unknown";  // 5 s of virtual time, none of yours
  // [/doc:scripted]
  return answers && hangs ? 0 : 1;
}
