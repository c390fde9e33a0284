#include "peers/comparison.h"

#include <fmt/format.h>

#include "support/chart.h"

namespace cordon::bench {
namespace {

constexpr double kMilli = 1e3;

std::string value_of(const Compared& one) {
  if (one.p50 <= 0) return "not available";
  return fmt::format("{:.2f} ms ({:.1f} × bare)", one.p50 * kMilli, one.ratio);
}

}  // namespace

std::string picture_of(const std::string& title, const std::string& subtitle,
                       const std::vector<Compared>& all) {
  std::vector<Bar> bars;
  bars.reserve(all.size());
  for (const Compared& one : all) {
    bars.push_back({.name = one.name,
                    .length = one.p50,
                    .value = value_of(one),
                    .who = one.ours ? Who::ours : Who::theirs});
  }
  return bar_chart(title, subtitle, bars);
}

std::string markdown_table(const std::vector<Compared>& all) {
  std::string table =
      "| command | p50 | p99 | p50 to bare | what it lacks beside `cordon run` |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const Compared& one : all) {
    if (one.p50 <= 0) {
      table += fmt::format("| {} | | | | not available: {} |\n", one.name, one.note);
    } else {
      table += fmt::format("| {} | {:.2f} ms | {:.2f} ms | {:.2f} | {} |\n", one.name,
                           one.p50 * kMilli, one.p99 * kMilli, one.ratio, one.note);
    }
  }
  return table;
}

}  // namespace cordon::bench
