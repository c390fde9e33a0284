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

struct Rate {
  Samples wall;       // lives a second
  Samples processor;  // lives a second of processor time

  void add(cordon::Manager& manager, const std::string& program) {
    const double before = processor_seconds();
    wall.add(kLives / seconds([&] {
               for (std::size_t i = 0; i < kLives; ++i) live(manager, program);
             }));
    processor.add(kLives / (processor_seconds() - before));
  }
};

void report_rate(const std::string& name, const Samples& rate, double least) {
  Figure figure{.name = "memory backend, " + name,
                .measured = fmt::format("{:.0f} /s", rate.p50()),
                .samples = rate.size()};
  if (least > 0) {
    figure.goal = fmt::format("≥ {:.0f} /s", least);
    figure.met = rate.p50() >= least;
  }
  report(figure);
}

}  // namespace

int main() {
  cordon::memory::Manager manager;
  manager.add("exits", cordon::memory::Program().exit(0));
  manager.add("talks", cordon::memory::Program().out("hello\n").sleep(std::chrono::seconds(1)));
  live(manager, "exits");

  Rate exits;
  Rate talks;
  interleave(kRuns, 1, [&] { exits.add(manager, "exits"); }, [&] { talks.add(manager, "talks"); });

  // One thread that never waits: what counts is its processor time.
  report_rate("start to exit, by processor time", exits.processor, kGoal);
  report_rate("start to exit, by wall clock", exits.wall, 0);
  report_rate("with a line and a sleep, by processor time", talks.processor, 0);
}
