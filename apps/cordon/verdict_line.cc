#include "verdict_line.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace cordon::app {
namespace {

// "250 ms", "1.5 s".
std::string milliseconds(std::uint64_t ms) {
  constexpr std::uint64_t kSecond = 1000;
  if (ms < kSecond) return fmt::format("{} ms", ms);
  return fmt::format("{:.4g} s", static_cast<double>(ms) / kSecond);
}

// "64M", "1000 bytes": only what can be said exactly gets a unit.
std::string bytes(std::uint64_t count) {
  constexpr std::uint64_t kKibi = 1024;
  constexpr std::string_view kUnits = "KMGT";
  std::string unit;
  std::uint64_t number = count;
  for (std::size_t i = 0; i < kUnits.size() && number > 0 && number % kKibi == 0; ++i) {
    number /= kKibi;
    unit = kUnits[i];
  }
  if (unit.empty()) return fmt::format("{} byte{}", number, number == 1 ? "" : "s");
  return fmt::format("{}{}", number, unit);
}

std::string amount(const LimitHit& hit, std::uint64_t value) {
  if (hit.name == "timeout" || hit.name == "cpu_time") return milliseconds(value);
  if (hit.name == "processes") return fmt::to_string(value);
  return bytes(value);
}

std::string about_limit(const LimitHit& hit) {
  const std::string limit = amount(hit, hit.limit);
  if (!hit.observed) return fmt::format("ended at the limit of {}", limit);
  return fmt::format("ended after {} (limit {})", amount(hit, *hit.observed), limit);
}

std::string about_signal(int signal) {
  const char* const name = sigabbrev_np(signal);
  if (name == nullptr) return fmt::format("the program died of signal {}", signal);
  return fmt::format("the program died of signal {} (SIG{})", signal, name);
}

}  // namespace

std::string verdict_line(const Outcome& outcome) {
  if (outcome.verdict == Verdict::exited) return {};
  if (outcome.error) return outcome.error->message;

  const int signal = outcome.termination.signal;
  if (outcome.verdict == Verdict::signaled && (signal == SIGINT || signal == SIGPIPE)) return {};

  std::string line = fmt::format("{}: ", to_string(outcome.verdict));
  if (outcome.limit) {
    line += about_limit(*outcome.limit);
  } else if (outcome.verdict == Verdict::signaled) {
    line += about_signal(signal);
  } else {
    const auto wall = std::chrono::duration_cast<std::chrono::milliseconds>(outcome.wall);
    line += fmt::format("ended after {}", milliseconds(static_cast<std::uint64_t>(wall.count())));
  }
  if (!outcome.hint.empty()) line += fmt::format("; {}", outcome.hint);
  return line;
}

}  // namespace cordon::app
