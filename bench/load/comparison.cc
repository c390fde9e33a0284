#include "load/comparison.h"

#include <fmt/format.h>

#include "support/chart.h"

namespace cordon::bench {
namespace {

constexpr double kMilli = 1e3;

}  // namespace

std::string markdown_table(const std::vector<AtRate>& all) {
  std::string table =
      "| requests/s | p50 | bare | ratio | p99 | bare | worst | bare | found a sandbox ready |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const AtRate& at : all) {
    const Samples& ours = at.ours.took;
    const Samples& bare = at.bare.took;
    table += fmt::format(
        "| {:g} | {:.2f} ms | {:.2f} ms | {:.2f} | {:.1f} ms | {:.1f} ms | {:.1f} ms | {:.1f} ms "
        "| {} of {} |\n",
        at.rate, ours.p50() * kMilli, bare.p50() * kMilli, ours.p50() / bare.p50(),
        ours.p99() * kMilli, bare.p99() * kMilli, ours.quantile(1) * kMilli,
        bare.quantile(1) * kMilli, at.ours.warm, ours.size());
  }
  return table;
}

std::string picture_of(const std::vector<AtRate>& all, const std::string& load) {
  Line ours_p50{.name = "pool, p50", .points = {}, .who = Who::ours};
  Line ours_p99{.name = "pool, p99", .points = {}, .who = Who::ours, .dashed = true};
  Line bare_p50{.name = "bare, p50", .points = {}};
  Line bare_p99{.name = "bare, p99", .points = {}, .dashed = true};
  Axis rates{.name = "requests a second", .marks = {}};
  for (const AtRate& at : all) {
    rates.marks.push_back(at.rate);
    ours_p50.points.push_back({at.rate, at.ours.took.p50() * kMilli});
    ours_p99.points.push_back({at.rate, at.ours.took.p99() * kMilli});
    bare_p50.points.push_back({at.rate, at.bare.took.p50() * kMilli});
    bare_p99.points.push_back({at.rate, at.bare.took.p99() * kMilli});
  }
  const Axis times{.name = "from the arrival of a request to the end of its program",
                   .marks = {0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000},
                   .unit = " ms"};
  return line_chart(
      "Isolated programs under load",
      fmt::format("a program that ends at once; in turns with posix_spawn, at load average {}",
                  load),
      rates, times, {bare_p99, bare_p50, ours_p99, ours_p50});
}

}  // namespace cordon::bench
