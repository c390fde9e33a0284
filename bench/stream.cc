// The output of a program that writes as fast as it can: events against a bare read loop.
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cordon/manager.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::uint64_t kBytes = std::uint64_t{256} << 20;  // a run
constexpr std::size_t kRuns = 12;                           // of each kind
constexpr std::uint64_t kLine = 100;                        // bytes, as programs/writes.cc has it
constexpr double kGiga = 1e9;

void must_be(std::uint64_t got, std::uint64_t expected, const char* what) {
  if (got != expected) give_up(fmt::format("{}: {} instead of {}", what, got, expected));
}

// 64 KiB reads from a pipe of 1 MiB.
void read_bare() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) give_up("pipe2 failed");
  (void)::fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
  BareSpawn bare(program("writes"), {std::to_string(kBytes)});
  bare.set_stdio({-1, ends[1], -1});
  const pid_t pid = bare.start();
  ::close(ends[1]);
  std::vector<char> block(64 * 1024);
  std::uint64_t total = 0;
  for (ssize_t n = 0; (n = ::read(ends[0], block.data(), block.size())) > 0;) {
    total += static_cast<std::uint64_t>(n);
  }
  ::close(ends[0]);
  BareSpawn::wait(pid);
  must_be(total, kBytes, "bytes of the bare loop");
}

void read_events(cordon::Manager& manager, cordon::OutputMode mode) {
  auto process = manager.create({.program = program("writes"),
                                 .args = {std::to_string(kBytes)},
                                 .out = cordon::Output::events({.mode = mode}),
                                 .err = cordon::Output::discard()});
  if (!process) give_up(process.error().message);
  if (auto started = (*process)->start(); !started) give_up(started.error().message);
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  for (const cordon::Event& event : (*process)->events()) {
    if (event.kind != cordon::Event::Kind::out) continue;
    bytes += event.data.size();
    ++events;
  }
  if (mode == cordon::OutputMode::line) {
    const std::uint64_t lines = (kBytes + kLine - 1) / kLine;
    must_be(events, lines, "lines");
    bytes += kBytes / kLine;  // their newlines
  }
  must_be(bytes, kBytes, "bytes of events");
}

}  // namespace

int main() {
  reduce_environment();
  auto manager = cordon::posix_manager();
  if (!manager) give_up(manager.error().message);

  Samples bare;
  Samples raw;
  Samples line;
  const auto rate = [](auto&& work) { return static_cast<double>(kBytes) / seconds(work); };
  const auto measure_bare = [&] { bare.add(rate(read_bare)); };
  const auto measure_raw = [&] {
    raw.add(rate([&] { read_events(**manager, cordon::OutputMode::raw); }));
  };
  const auto measure_line = [&] {
    line.add(rate([&] { read_events(**manager, cordon::OutputMode::line); }));
  };
  read_bare();
  read_events(**manager, cordon::OutputMode::raw);
  interleave(kRuns / 2, 1, measure_bare, [&] {
    measure_raw();
    measure_line();
  });
  interleave(kRuns / 2, 1, measure_raw, [&] {
    measure_line();
    measure_bare();
  });

  const auto text = [](double r) { return fmt::format("{:.2f} GB/s", r / kGiga); };
  report({.name = "stdout, raw events",
          .goal = "≥ 0.90 × read loop",
          .measured = text(raw.p50()),
          .baseline = text(bare.p50()),
          .ratio = raw.p50() / bare.p50(),
          .samples = raw.size(),
          .met = raw.p50() >= 0.9 * bare.p50()});
  const double least = std::min(kGiga, 0.5 * raw.p50());
  report({.name = "stdout, events of 100-byte lines",
          .goal = "≥ 1 GB/s or 0.50 × raw events",
          .measured = text(line.p50()),
          .baseline = text(raw.p50()),
          .ratio = line.p50() / raw.p50(),
          .samples = line.size(),
          .met = line.p50() >= least});
}
