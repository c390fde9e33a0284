// Whole lives of processes on the memory backend, one after the other on one thread.
#include "cordon/memory.h"

#include <fmt/format.h>

#include <string>

#include "support/figure.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kLives = 20'000;  // a run
constexpr std::size_t kRuns = 20;
constexpr double kGoal = 200'000;  // lives a second

void live(cordon::Manager& manager, const std::string& program) {
  auto process = manager.create({.program = program});
  if (!process) give_up(process.error().message);
  if (auto started = (*process)->start(); !started) give_up(started.error().message);
  auto outcome = (*process)->wait();
  if (!outcome || outcome->verdict != cordon::Verdict::exited) give_up("it did not exit");
}

double lives_a_second(cordon::Manager& manager, const std::string& program) {
  return kLives / seconds([&] {
           for (std::size_t i = 0; i < kLives; ++i) live(manager, program);
         });
}

}  // namespace

int main() {
  cordon::memory::Manager manager;
  manager.add("exits", cordon::memory::Program().exit(0));
  manager.add("talks", cordon::memory::Program().out("hello\n").sleep(std::chrono::seconds(1)));
  live(manager, "exits");

  Samples exits;
  Samples talks;
  interleave(
      kRuns, 1, [&] { exits.add(lives_a_second(manager, "exits")); },
      [&] { talks.add(lives_a_second(manager, "talks")); });

  const auto text = [](double rate) { return fmt::format("{:.0f} /s", rate); };
  report({.name = "memory backend, start to exit",
          .goal = fmt::format("≥ {:.0f} /s", kGoal),
          .measured = text(exits.p50()),
          .samples = exits.size(),
          .met = exits.p50() >= kGoal});
  report({.name = "memory backend, writes and sleeps a second",
          .measured = text(talks.p50()),
          .samples = talks.size()});
}
