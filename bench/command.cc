// The command: its own start-up, `cordon run` by itself, and `cordon run` through a pool, in turns
// with a bare posix_spawn of the same static program. The pool is one of its own, in a folder of
// its own. BENCH_SAMPLES: launches of each (200).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support/bare.h"
#include "support/figure.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kSamples = 200;
constexpr std::size_t kGroup = 5;
constexpr double kMicro = 1e6;
constexpr double kMostToCold = 0.5;

void run_or_give_up(const std::vector<std::string>& arguments) {
  const BareSpawn command(CORDON_COMMAND, arguments);
  if (BareSpawn::wait(command.start()) == 0) return;
  give_up(fmt::format("cordon {} failed: run it by hand to see why", fmt::join(arguments, " ")));
}

// A pool that nobody else uses. If this program gives up it ends by itself.
class PrivatePool {
 public:
  PrivatePool() {
    std::string name = (std::filesystem::temp_directory_path() / "cordon-bench.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) give_up("cannot make " + name);
    folder_ = name;
    ::setenv("XDG_RUNTIME_DIR", name.c_str(), 1);
    run_or_give_up({"pool", "start", "--size", "8", "--idle", "30s"});
  }
  ~PrivatePool() {
    run_or_give_up({"pool", "stop"});
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  PrivatePool(const PrivatePool&) = delete;
  PrivatePool& operator=(const PrivatePool&) = delete;

 private:
  std::filesystem::path folder_;
};

struct Contender {
  std::string name;
  BareSpawn spawn;
  Samples samples{};
};

// Small groups of each in turns, and who begins moves on: all see the same machine.
template <std::size_t N>
void measure(std::array<Contender, N>& contenders, std::size_t samples) {
  for (std::size_t done = 0, round = 0; done < samples; ++round) {
    const std::size_t count = std::min(kGroup, samples - done);
    for (std::size_t turn = 0; turn < N; ++turn) {
      Contender& one = contenders[(round + turn) % N];
      for (std::size_t i = 0; i < count; ++i) {
        int status = 0;
        one.samples.add(seconds([&] { status = BareSpawn::wait(one.spawn.start()); }));
        if (status != 0) give_up(one.name + " failed");
      }
    }
    done += count;
  }
}

Figure figure(const Contender& ours, const Contender& theirs, double quantile,
              std::string_view percentile) {
  const double measured = ours.samples.quantile(quantile);
  const double baseline = theirs.samples.quantile(quantile);
  return {.name = fmt::format("{}, {}", ours.name, percentile),
          .measured = fmt::format("{:.0f} µs", measured * kMicro),
          .baseline = fmt::format("{:.0f} µs", baseline * kMicro),
          .ratio = measured / baseline,
          .samples = ours.samples.size()};
}

void report_all(const Contender& bare, const Contender& itself, const Contender& cold,
                const Contender& warm) {
  for (const Contender* one : {&itself, &cold, &warm}) {
    report(figure(*one, bare, 0.5, "p50"));
    report(figure(*one, bare, 0.99, "p99"));
  }
  Figure goal = figure(warm, cold, 0.5, "p50, to cold");
  goal.goal = fmt::format("≤ {:.2f} × cold", kMostToCold);
  goal.met = goal.ratio <= kMostToCold;
  report(goal);
  report(figure(warm, cold, 0.99, "p99, to cold"));
}

}  // namespace

int main() {
  const char* const asked = std::getenv("BENCH_SAMPLES");
  const std::size_t samples = asked == nullptr ? kSamples : std::strtoul(asked, nullptr, 10);
  if (samples == 0) give_up(std::string("BENCH_SAMPLES is not a number of launches: ") + asked);
  reduce_environment();
  const std::string exits = program("exits");
  std::filesystem::current_path(std::filesystem::path(exits).parent_path());
  const PrivatePool pool;
  std::array<Contender, 4> all{
      Contender{"bare", BareSpawn(exits)},
      Contender{"command: start-up (cordon --version)", BareSpawn(CORDON_COMMAND, {"--version"})},
      Contender{"command: cordon run, cold",
                BareSpawn(CORDON_COMMAND, {"run", "--pool", "off", "--", exits})},
      Contender{"command: cordon run, warm through the pool",
                BareSpawn(CORDON_COMMAND, {"run", "--pool", "only", "--", exits})}};
  measure(all, samples);
  report_all(all[0], all[1], all[2], all[3]);
}
