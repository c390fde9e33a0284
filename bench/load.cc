// Requests that come at a certain rate, each a program in a sandbox of a pool, against a bare
// posix_spawn of the same program for the same arrivals; and requests that no pool can be ready
// for among them. A time is from the arrival of a request to the end of its program. BENCH_OUT: a
// folder for the comparison as load.svg and load.md.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cordon/pool.h"
#include "load/comparison.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/launches.h"
#include "support/open_loop.h"
#include "support/output_folder.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

// Never more than 64 processes: a sandbox has two, and up to twice as many as are kept ready may
// wait to be taken away.
constexpr std::size_t kServers = 8;
constexpr std::size_t kReady = 8;
constexpr double kSlice = 1;  // seconds, in turns
constexpr double kMostP50 = 1.2;
constexpr double kStarved = 1;  // seconds
constexpr double kMicro = 1e6;

// Everything is ready when a slice begins, and nothing is left to do for the next one's: how much a
// pool does beside its requests shows in its own slices.
void settle(cordon::Pool& pool, const cordon::Request& request) {
  if (auto ready = pool.warm(request, kReady); !ready) give_up(ready.error().message);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void serve_bare(const std::vector<double>& when, const BareSpawn& bare, Side& side) {
  for (const double took :
       open_loop(when, kServers, [&](std::size_t) { BareSpawn::wait(bare.start()); })) {
    side.took.add(took);
  }
}

void serve_ours(const std::vector<double>& when, cordon::Pool& pool, const cordon::Request& request,
                Side& side) {
  std::vector<char> warm(when.size());
  const auto took = open_loop(when, kServers, [&](std::size_t i) {
    warm[i] = launch(pool.manager(), request).launch == cordon::Launch::warm ? 1 : 0;
  });
  for (const double seconds : took) side.took.add(seconds);
  side.warm += static_cast<std::size_t>(std::ranges::count(warm, 1));
}

void measure(AtRate& at, cordon::Pool& pool, const cordon::Request& request) {
  const BareSpawn bare(request.program);
  unsigned bare_seed = 0;
  unsigned our_seed = 0;
  interleave(
      at.rounds, 1, [&] { serve_bare(arrivals(at.rate, kSlice, ++bare_seed), bare, at.bare); },
      [&] {
        settle(pool, request);
        serve_ours(arrivals(at.rate, kSlice, ++our_seed), pool, request, at.ours);
        settle(pool, request);
      });
}

Figure compared(const std::string& name, double ours, double theirs, std::size_t samples) {
  return {.name = name,
          .measured = fmt::format("{:.0f} µs", ours * kMicro),
          .baseline = fmt::format("{:.0f} µs", theirs * kMicro),
          .ratio = ours / theirs,
          .samples = samples};
}

// Whoever came has been served when a slice ends; what is left to ask is how late.
void report_worst(const std::string& name, const Samples& ours, const Samples& theirs) {
  Figure worst = compared(name + ", worst", ours.quantile(1), theirs.quantile(1), ours.size());
  worst.goal = fmt::format("≤ {:g} s, none starved", kStarved);
  worst.met = ours.quantile(1) <= kStarved;
  report(worst);
}

void report_rate(const AtRate& at) {
  const std::string name = fmt::format("load: {:g} requests/s", at.rate);
  const Samples& ours = at.ours.took;
  const Samples& bare = at.bare.took;
  Figure p50 = compared(name + ", p50", ours.p50(), bare.p50(), ours.size());
  p50.goal = fmt::format("≤ {:.2f} × posix_spawn", kMostP50);
  p50.met = ours.p50() <= kMostP50 * bare.p50();
  report(p50);
  report(compared(name + ", p99", ours.p99(), bare.p99(), ours.size()));
  report_worst(name, ours, bare);
  report({.name = name + ", found a sandbox ready",
          .measured = fmt::format("{} of {}", at.ours.warm, ours.size()),
          .samples = ours.size()});
}

// Something that nobody has asked for before, so that no sandbox can be ready for it.
cordon::Request never_seen(cordon::Request request, std::size_t number) {
  request.grants.push_back(cordon::Grant::tmpfs(fmt::format("/scratch/{}", number)));
  return request;
}

// Those requests of all that were of this kind.
struct Cold {
  Samples took{};
  double longest_gap = 0;  // seconds in which none of them has ended

  void add(const std::vector<double>& arrived, const std::vector<double>& took_each,
           std::size_t every) {
    std::vector<double> ends;
    for (std::size_t i = 0; i < arrived.size(); i += every) {
      took.add(took_each[i]);
      ends.push_back(arrived[i] + took_each[i]);
    }
    std::ranges::sort(ends);
    for (std::size_t i = 1; i < ends.size(); ++i) {
      longest_gap = std::max(longest_gap, ends[i] - ends[i - 1]);
    }
  }
};

// Every tenth request is one that no pool is ready for; against the same ones without the others.
void measure_cold_among_warm(cordon::Pool& pool, const cordon::Request& request) {
  constexpr double kRate = 200;
  constexpr std::size_t kEvery = 10;
  constexpr std::size_t kRounds = 3;
  std::size_t number = 0;
  const auto launch_cold = [&](std::size_t i) {
    const cordon::Outcome outcome = launch(pool.manager(), never_seen(request, number + i));
    if (outcome.launch != cordon::Launch::cold) give_up("a sandbox was ready that could not be");
  };
  Cold among;
  Cold alone;
  for (unsigned round = 0; round < kRounds; ++round) {
    const std::vector<double> when = arrivals(kRate, kSlice, 100 + round);
    settle(pool, request);
    const auto mixed = open_loop(when, kServers, [&](std::size_t i) {
      if (i % kEvery == 0) {
        launch_cold(i);
      } else {
        (void)launch(pool.manager(), request);
      }
    });
    among.add(when, mixed, kEvery);
    number += when.size();
    settle(pool, request);
    std::vector<double> only_cold;
    for (std::size_t i = 0; i < when.size(); i += kEvery) only_cold.push_back(when[i]);
    alone.add(only_cold, open_loop(only_cold, kServers, launch_cold), 1);
    number += only_cold.size();
  }
  const std::string name =
      fmt::format("load: {:g} cold among {:g} requests/s (to: cold alone)", kRate / kEvery, kRate);
  report(compared(name + ", p50", among.took.p50(), alone.took.p50(), among.took.size()));
  report_worst(name, among.took, alone.took);
  report(compared(name + ", longest without one that ends", among.longest_gap, alone.longest_gap,
                  among.took.size()));
}

}  // namespace

int main() {
  const OutputFolder out;
  const std::string load = load_average();
  reduce_environment();
  std::filesystem::current_path(std::filesystem::path(program("exits")).parent_path());
  auto pool = cordon::Pool::make({.size = kReady});
  if (!pool) give_up(pool.error().message);
  const cordon::Request request = limited_request(program("exits"));
  std::vector<AtRate> all = {{50, 6}, {200, 4}, {500, 2}, {1000, 2}};
  for (AtRate& at : all) {
    measure(at, **pool, request);
    report_rate(at);
  }
  measure_cold_among_warm(**pool, request);
  out.write("load.svg", picture_of(all, load));
  out.write("load.md", markdown_table(all));
}
