#include "batch_tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cordon::app {
namespace {

constexpr std::string_view kWell = "exited with 0";
constexpr std::string_view kOtherwise = "exited otherwise";

// In the order of text(); what is not here follows.
constexpr std::array<std::string_view, 2> kFirst = {kWell, kOtherwise};

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Requests a second; 0: not known yet.
double rate(const Progress& progress) {
  const double time = seconds(progress.elapsed);
  const auto done = static_cast<double>(progress.done - progress.done_before);
  return time > 0 ? done / time : 0;
}

std::string rate_text(double rate) {
  constexpr double kExact = 10;
  return rate < kExact ? fmt::format("{:.1f}/s", rate) : fmt::format("{:.0f}/s", rate);
}

// "8s", "2m05s", "3h12m".
std::string time_left(double time) {
  constexpr std::uint64_t kMinute = 60;
  constexpr std::uint64_t kHour = 3600;
  constexpr double kMost = 3.6e8;  // more is no prediction
  const auto whole = static_cast<std::uint64_t>(std::ceil(std::min(time, kMost)));
  if (whole < kMinute) return fmt::format("{}s", whole);
  if (whole < kHour) return fmt::format("{}m{:02}s", whole / kMinute, whole % kMinute);
  return fmt::format("{}h{:02}m", whole / kHour, whole % kHour / kMinute);
}

std::string bar(const Progress& progress) {
  constexpr std::uint64_t kCells = 20;
  const std::uint64_t full =
      progress.total == 0 ? kCells : std::min(kCells, progress.done * kCells / progress.total);
  std::string text = "[";
  for (std::uint64_t cell = 0; cell < kCells; ++cell) text += cell < full ? "#" : ".";
  return text + "]";
}

}  // namespace

void Tally::add(std::string_view verdict, std::optional<int> exit_code) {
  if (verdict == "exited") {
    ++counts_[std::string(exit_code == 0 ? kWell : kOtherwise)];
  } else {
    ++counts_[std::string(verdict)];
  }
}

std::uint64_t Tally::total() const {
  std::uint64_t all = 0;
  for (const auto& [name, count] : counts_) all += count;
  return all;
}

bool Tally::all_well() const {
  return std::ranges::all_of(counts_, [](const auto& entry) { return entry.first == kWell; });
}

std::string Tally::text() const {
  std::string text;
  const auto say = [&](std::string_view name, std::uint64_t count) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  };
  for (const std::string_view name : kFirst) {
    if (const auto at = counts_.find(name); at != counts_.end()) say(name, at->second);
  }
  for (const auto& [name, count] : counts_) {
    if (std::ranges::find(kFirst, name) == kFirst.end()) say(name, count);
  }
  return text;
}

std::string progress_line(const Progress& progress, const Tally& tally, std::size_t columns) {
  std::string line = fmt::format("{} {}/{}", bar(progress), progress.done, progress.total);
  if (const double now = rate(progress); now > 0) {
    line += fmt::format("  {}", rate_text(now));
    const auto left = static_cast<double>(progress.total - std::min(progress.done, progress.total));
    if (left > 0) line += fmt::format("  {} left", time_left(left / now));
  }
  if (const std::string counts = tally.text(); !counts.empty()) line += fmt::format("  {}", counts);
  if (line.size() > columns) line.resize(columns);  // plain ASCII
  return line;
}

std::string summary_line(const Progress& progress, const Tally& tally) {
  const std::uint64_t done = progress.done - progress.done_before;
  std::string line =
      fmt::format("{} request{} in {:.1f}s", done, done == 1 ? "" : "s", seconds(progress.elapsed));
  if (const double overall = rate(progress); overall > 0) {
    line += fmt::format(" ({})", rate_text(overall));
  }
  if (progress.done_before > 0) line += fmt::format(", {} before", progress.done_before);
  if (const std::string counts = tally.text(); !counts.empty()) line += ": " + counts;
  return line;
}

}  // namespace cordon::app
