// Launching and waiting for a program that ends at once: Cordon against a bare posix_spawn.
#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "cordon/manager.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/launches.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kRounds = 200;
constexpr std::size_t kGroup = 10;

struct Pair {
  Samples bare;
  Samples ours;
};

void report_pair(const std::string& name, const Pair& pair, double goal) {
  report_launches(name, pair.ours, pair.bare, {.p50 = goal});
}

// Both with /dev/null for all streams.
Pair compare_without_pipes(cordon::Manager& manager) {
  const BareSpawn bare(program("exits"));
  const cordon::Request request{.program = program("exits"),
                                .in = cordon::Input::none(),
                                .out = cordon::Output::discard(),
                                .err = cordon::Output::discard()};
  Pair pair;
  interleave(
      kRounds, kGroup, [&] { pair.bare.add(seconds([&] { BareSpawn::wait(bare.start()); })); },
      [&] { pair.ours.add(seconds([&] { (void)launch(manager, request); })); });
  return pair;
}

// Both with pipes for stdout and stderr, read to their end.
Pair compare_with_pipes(cordon::Manager& manager) {
  BareSpawn bare(program("exits"));
  const cordon::Request request{.program = program("exits")};
  Pair pair;
  const auto bare_once = [&] {
    int out[2];
    int err[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) give_up("pipe2 failed");
    bare.set_stdio({-1, out[1], err[1]});
    const pid_t pid = bare.start();
    ::close(out[1]);
    ::close(err[1]);
    char buffer[4096];
    for (const int fd : {out[0], err[0]}) {
      while (::read(fd, buffer, sizeof buffer) > 0) {
      }
      ::close(fd);
    }
    BareSpawn::wait(pid);
  };
  const auto ours_once = [&] {
    auto process = manager.create(request);
    if (!process || !(*process)->start()) give_up("cannot start");
    for (const cordon::Event& event : (*process)->events()) (void)event;
  };
  interleave(
      kRounds / 2, kGroup, [&] { pair.bare.add(seconds(bare_once)); },
      [&] { pair.ours.add(seconds(ours_once)); });
  return pair;
}

}  // namespace

int main() {
  reduce_environment();
  auto manager = cordon::posix_manager();
  if (!manager) give_up(manager.error().message);
  (void)compare_without_pipes(**manager);  // caches and the manager's thread

  report_pair("launch + wait", compare_without_pipes(**manager), 1.10);
  report_pair("launch + wait, two pipes read", compare_with_pipes(**manager), 0);

  constexpr std::size_t kGibibyte = std::size_t{1} << 30;
  const std::vector<char> resident(kGibibyte, 1);
  report_pair("launch + wait, 1 GiB resident", compare_without_pipes(**manager), 1.15);
  return resident.back() == 1 ? 0 : 1;
}
