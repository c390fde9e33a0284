// How many programs a second can be run one after the other, without a pause, by a few requesters
// at once: in sandboxes of a pool, against a bare posix_spawn of the same program. Each side has as
// many requesters as are best for it.
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cordon/pool.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/launches.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

// Never more than 64 processes: a sandbox has two, and up to twice as many as are kept ready may
// wait to be taken away.
constexpr std::array<std::size_t, 5> kRequesters = {1, 2, 3, 4, 8};
constexpr std::size_t kReady = 8;
constexpr auto kTrial = std::chrono::milliseconds(400);
constexpr auto kSlice = std::chrono::seconds(1);
constexpr std::size_t kRounds = 4;

struct Side {
  std::string name;
  double least = 0;  // of the bare throughput
  std::function<void()> run;
  std::function<void()> settle;  // before and after a slice, so that none works for another
  std::size_t requesters = 1;
  Samples per_second{};
  Samples processor{};  // seconds of it that a run took, with all that was done for it
};

struct Slice {
  double per_second = 0;
  double processor = 0;
};

// Of this process and of those it has waited for, in seconds. Other than the throughput it hardly
// suffers from others' work. The kernel's own workers are not in it.
double processor_time() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
  }
  return sum;
}

Slice run_for(const Side& side, std::size_t requesters, std::chrono::nanoseconds slice) {
  side.settle();
  const double before = processor_time();
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + slice;
  std::atomic<std::size_t> runs = 0;
  const double took = seconds([&] {
    std::vector<std::jthread> threads;
    threads.reserve(requesters);
    for (std::size_t i = 0; i < requesters; ++i) {
      threads.emplace_back([&] {
        while (std::chrono::steady_clock::now() < end) {
          side.run();
          ++runs;
        }
      });
    }
  });
  side.settle();
  const auto count = static_cast<double>(runs);
  return {.per_second = count / took, .processor = (processor_time() - before) / count};
}

void choose_requesters(Side& side) {
  double best = 0;
  for (const std::size_t requesters : kRequesters) {
    const double reached = run_for(side, requesters, kTrial).per_second;
    if (reached <= best) continue;
    best = reached;
    side.requesters = requesters;
  }
}

// A slice of each in turns, and who begins moves on.
void measure(std::vector<Side>& sides) {
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t turn = 0; turn < sides.size(); ++turn) {
      Side& side = sides[(round + turn) % sides.size()];
      const Slice slice = run_for(side, side.requesters, kSlice);
      side.per_second.add(slice.per_second);
      side.processor.add(slice.processor);
    }
  }
}

void report_side(const Side& side, const Side& bare) {
  const double ratio = side.per_second.p50() / bare.per_second.p50();
  report({.name = fmt::format("sustained: {}, {} requesters", side.name, side.requesters),
          .goal = fmt::format("≥ {:.2f} × posix_spawn", side.least),
          .measured = fmt::format("{:.0f} /s", side.per_second.p50()),
          .baseline = fmt::format("{:.0f} /s by {}", bare.per_second.p50(), bare.requesters),
          .ratio = ratio,
          .samples = side.per_second.size(),
          .met = ratio >= side.least});
  constexpr double kMicro = 1e6;
  report({.name = fmt::format("sustained: {}, processor time of a run", side.name),
          .measured = fmt::format("{:.0f} µs", side.processor.p50() * kMicro),
          .baseline = fmt::format("{:.0f} µs", bare.processor.p50() * kMicro),
          .ratio = side.processor.p50() / bare.processor.p50(),
          .samples = side.processor.size()});
}

// A pool that has nothing to do but this.
Side by_pool(std::string name, double least, cordon::Pool& pool, const cordon::Request& request) {
  return {.name = std::move(name),
          .least = least,
          .run = [&pool, request] { (void)launch(pool.manager(), request); },
          .settle =
              [&pool, request] {
                if (auto ready = pool.warm(request, kReady); !ready) give_up(ready.error().message);
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
              }};
}

std::unique_ptr<cordon::Pool> make_pool() {
  auto pool = cordon::Pool::make({.size = kReady});
  if (!pool) give_up(pool.error().message);
  return *std::move(pool);
}

}  // namespace

int main() {
  reduce_environment();
  std::filesystem::current_path(std::filesystem::path(program("exits")).parent_path());
  const cordon::Request request = limited_request(program("exits"));
  const BareSpawn bare(request.program);
  const auto one_shot_pool = make_pool();
  const auto tenants_pool = make_pool();
  cordon::Request again = request;
  again.reuse = cordon::Tenant::named("bench").value();

  std::vector<Side> sides;
  sides.push_back({.name = "bare", .run = [&] { BareSpawn::wait(bare.start()); }, .settle = [] {}});
  sides.push_back(by_pool("pool, one-shot", 0.42, *one_shot_pool, request));
  sides.push_back(by_pool("pool, one tenant", 0.80, *tenants_pool, again));
  for (Side& side : sides) choose_requesters(side);
  measure(sides);
  for (std::size_t i = 1; i < sides.size(); ++i) report_side(sides[i], sides[0]);
}
