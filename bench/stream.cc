// The output of a program that writes as fast as it can: events against a bare read loop.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

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

constexpr std::uint64_t kBytes = std::uint64_t{128} << 20;  // a run
constexpr std::size_t kRuns = 32;                           // of each kind
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
  auto events = (*process)->events();  // before the start: what nobody reads may be dropped
  if (auto started = (*process)->start(); !started) give_up(started.error().message);
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  for (const cordon::Event& event : events) {
    if (event.kind != cordon::Event::Kind::out) continue;
    bytes += event.data.size();
    ++count;
  }
  if (mode == cordon::OutputMode::line) {
    const std::uint64_t lines = (kBytes + kLine - 1) / kLine;
    must_be(count, lines, "lines");
    bytes += kBytes / kLine;  // their newlines
  }
  must_be(bytes, kBytes, "bytes of events");
}

struct Speed {
  Samples rate;       // bytes a second
  Samples processor;  // seconds of this thread a gigabyte

  template <typename Work>
  void add(const Work& work) {
    const double before = processor_seconds();
    rate.add(static_cast<double>(kBytes) / seconds(work));
    processor.add((processor_seconds() - before) * kGiga / static_cast<double>(kBytes));
  }
};

void report_speed(const std::string& name, const std::string& goal, const Speed& speed,
                  const Speed& baseline, double least) {
  const auto text = [](double rate) { return fmt::format("{:.2f} GB/s", rate / kGiga); };
  report({.name = name,
          .goal = goal,
          .measured = text(speed.rate.p50()),
          .baseline = text(baseline.rate.p50()),
          .ratio = speed.rate.p50() / baseline.rate.p50(),
          .samples = speed.rate.size(),
          .met = speed.rate.p50() >= least});
}

void report_processor(const std::string& name, const Speed& speed, const Speed& baseline) {
  const auto text = [](double time) { return fmt::format("{:.0f} ms/GB", time * 1e3); };
  report({.name = name,
          .measured = text(speed.processor.p50()),
          .baseline = text(baseline.processor.p50()),
          .ratio = speed.processor.p50() / baseline.processor.p50(),
          .samples = speed.processor.size()});
}

}  // namespace

int main() {
  reduce_environment();
  auto manager = cordon::posix_manager();
  if (!manager) give_up(manager.error().message);

  Speed bare;
  Speed raw;
  Speed line;
  const auto measure_bare = [&] { bare.add(read_bare); };
  const auto measure_raw = [&] {
    raw.add([&] { read_events(**manager, cordon::OutputMode::raw); });
  };
  const auto measure_line = [&] {
    line.add([&] { read_events(**manager, cordon::OutputMode::line); });
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

  report_speed("stdout, raw events", "≥ 0.90 × read loop", raw, bare, 0.9 * bare.rate.p50());
  report_speed("stdout, events of 100-byte lines", "≥ 1 GB/s or 0.50 × raw events", line, raw,
               std::min(kGiga, 0.5 * raw.rate.p50()));
  report_processor("stdout, raw events: reader's processor time", raw, bare);
  report_processor("stdout, events of lines: reader's processor time", line, raw);
}
