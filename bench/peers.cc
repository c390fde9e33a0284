// The command `cordon run` with all its defaults against other commands that isolate a program, and
// against a bare posix_spawn: a static program that ends at once. BENCH_SAMPLES: launches of each
// (100). BENCH_OUT: a folder for the comparison as peers.svg and peers.md.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "peers/bundle.h"
#include "peers/comparison.h"
#include "peers/legacy_space.h"
#include "peers/peer.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/output_folder.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kSamples = 100;
constexpr std::size_t kGroup = 5;
constexpr double kMicro = 1e6;
constexpr double kMostToBare = 4.5;
constexpr std::size_t kBare = 0;  // places in the list of all_peers()
constexpr std::size_t kOurs = 1;

struct Contender {
  Peer peer;
  std::unique_ptr<BareSpawn> spawn{};  // none: not available
  std::string why{};
  Samples samples{};
};

Contender prepare(Peer peer, const LegacySpace& space) {
  Contender contender{.peer = std::move(peer)};
  contender.why = try_once(contender.peer);
  if (contender.why.find("hybrid") != std::string::npos && space.usable()) {
    contender.peer.needs_space = true;
    space.enter();
    contender.why = try_once(contender.peer);
    space.leave();
    contender.peer.note += "; run where the v2 hierarchy of this hybrid host is not mounted";
  }
  if (contender.why.empty()) {
    contender.spawn = std::make_unique<BareSpawn>(contender.peer.file, contender.peer.args);
  }
  return contender;
}

void launch_some(Contender& contender, std::size_t count, const LegacySpace& space) {
  if (!contender.spawn) return;
  if (contender.peer.needs_space) space.enter();
  for (std::size_t i = 0; i < count; ++i) {
    int status = 0;
    contender.samples.add(seconds([&] { status = BareSpawn::wait(contender.spawn->start()); }));
    if (status != 0) {
      contender.why = "failed in one of its launches";
      contender.spawn.reset();
      break;
    }
  }
  if (contender.peer.needs_space) space.leave();
}

// Small groups of each in turns, and who begins moves on: all see the same machine.
void measure(std::vector<Contender>& contenders, std::size_t samples, const LegacySpace& space) {
  for (std::size_t done = 0, round = 0; done < samples; ++round) {
    const std::size_t count = std::min(kGroup, samples - done);
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      launch_some(contenders[(round + turn) % contenders.size()], count, space);
    }
    done += count;
  }
}

Compared compared(const Contender& contender, double bare) {
  Compared one{.name = contender.peer.name, .note = contender.why};
  if (!contender.spawn) return one;
  one.p50 = contender.samples.p50();
  one.p99 = contender.samples.p99();
  one.ratio = one.p50 / bare;
  one.note = contender.peer.note;
  return one;
}

void report_all(const std::vector<Contender>& contenders, const std::vector<Compared>& all) {
  const Compared& ours = all[kOurs];
  const double bare_p50 = all[kBare].p50;
  const auto figure = [&](std::size_t i, bool p99) {
    const double measured = p99 ? all[i].p99 : all[i].p50;
    const double baseline = p99 ? all[kBare].p99 : bare_p50;
    return Figure{.name = fmt::format("command: {}, {}", all[i].name, p99 ? "p99" : "p50"),
                  .measured = fmt::format("{:.0f} µs", measured * kMicro),
                  .baseline = fmt::format("{:.0f} µs", baseline * kMicro),
                  .ratio = measured / baseline,
                  .samples = contenders[i].samples.size()};
  };
  Figure first = figure(kOurs, false);
  first.goal = "below every peer";
  const auto is_there = [](const Compared& peer) { return peer.p50 > 0; };
  if (std::any_of(all.begin() + kOurs + 1, all.end(), is_there)) {
    first.met = std::none_of(all.begin() + kOurs + 1, all.end(), [&](const Compared& peer) {
      return is_there(peer) && peer.p50 <= ours.p50;
    });
  }
  report(first);
  Figure second = figure(kOurs, false);
  second.goal = fmt::format("≤ {:.2f} × posix_spawn", kMostToBare);
  second.met = ours.ratio <= kMostToBare;
  report(second);
  report(figure(kOurs, true));
  for (std::size_t i = kOurs + 1; i < all.size(); ++i) {
    if (all[i].p50 <= 0) {
      report({.name = "command: " + all[i].name, .measured = "not available: " + all[i].note});
      continue;
    }
    report(figure(i, false));
    report(figure(i, true));
  }
}

}  // namespace

int main() {
  const OutputFolder out;
  const char* const asked = std::getenv("BENCH_SAMPLES");
  const std::size_t samples = asked == nullptr ? kSamples : std::strtoul(asked, nullptr, 10);
  if (samples == 0) give_up(fmt::format("BENCH_SAMPLES is not a number of launches: {}", asked));
  const std::string load = load_average();
  reduce_environment();
  const std::string program = cordon::bench::program("exits");
  std::filesystem::current_path(std::filesystem::path(program).parent_path());

  std::optional<Bundle> bundle(program);
  const LegacySpace space;
  std::vector<Contender> contenders;
  for (Peer& peer : all_peers(program, *bundle)) {
    contenders.push_back(prepare(std::move(peer), space));
  }
  measure(contenders, samples, space);
  bundle.reset();  // give_up would not
  for (const std::size_t needed : {kBare, kOurs}) {
    const Contender& one = contenders[needed];
    if (!one.spawn) give_up(one.peer.name + ": " + one.why);
  }

  std::vector<Compared> all;
  all.reserve(contenders.size());
  for (const Contender& one : contenders) {
    all.push_back(compared(one, contenders[kBare].samples.p50()));
  }
  all[kOurs].ours = true;
  all[kOurs].note = "";
  report_all(contenders, all);
  out.write(
      "peers.svg",
      picture_of(
          "Running a program that ends at once, in isolation",
          fmt::format("median of {} launches each, in turns, at load average {}; shorter is better",
                      samples, load),
          all));
  out.write("peers.md", markdown_table(all));
}
