// Launching and waiting for a sandboxed program that ends at once: full isolation with control
// groups and verification, against a bare posix_spawn.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cordon/manager.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kRounds = 100;
constexpr std::size_t kGroup = 10;
constexpr double kMicro = 1e6;

void launch(cordon::Manager& manager, const cordon::Request& request) {
  auto process = manager.create(request);
  if (!process) give_up(process.error().message);
  if (auto started = (*process)->start(); !started) give_up(started.error().message);
  auto outcome = (*process)->wait();
  if (!outcome) give_up(outcome.error().message);
  if (outcome->verdict != cordon::Verdict::exited) give_up("the program did not just exit");
}

cordon::Request request_for(const std::string& path) {
  cordon::Request request;
  request.program = path;
  request.in = cordon::Input::none();
  request.out = cordon::Output::discard();
  request.err = cordon::Output::discard();
  request.limits.memory_bytes = std::uint64_t{512} << 20;
  request.limits.processes = 128;
  request.limits.cpu_millicores = 1000;
  request.limits.open_files = 1024;
  return request;
}

struct Goals {
  double p50 = 0;
  double p99 = 0;
};

void compare(const std::string& name, cordon::Manager& manager, const cordon::Request& request,
             std::chrono::milliseconds pause, Goals goals) {
  const BareSpawn bare(request.program);
  Samples theirs;
  Samples ours;
  const auto rest = [&] {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
  };
  interleave(
      pause.count() > 0 ? kRounds / 10 : kRounds, kGroup,
      [&] {
        theirs.add(seconds([&] { BareSpawn::wait(bare.start()); }));
        rest();
      },
      [&] {
        ours.add(seconds([&] { launch(manager, request); }));
        rest();
      });
  const auto row = [&](const char* which, double measured, double baseline, double most) {
    Figure figure{.name = name + ", " + which,
                  .measured = fmt::format("{:.0f} µs", measured * kMicro),
                  .baseline = fmt::format("{:.0f} µs", baseline * kMicro),
                  .ratio = measured / baseline,
                  .samples = ours.size()};
    if (most > 0) {
      figure.goal = fmt::format("≤ {:.2f} × posix_spawn", most);
      figure.met = measured / baseline <= most;
    }
    report(figure);
  };
  row("p50", ours.p50(), theirs.p50(), goals.p50);
  row("p99", ours.p99(), theirs.p99(), goals.p99);
}

}  // namespace

int main() {
  reduce_environment();
  std::filesystem::current_path(std::filesystem::path(program("exits")).parent_path());
  auto manager = cordon::linux_manager();
  if (!manager) give_up(manager.error().message);
  const cordon::Request request = request_for(program("exits"));
  for (int i = 0; i < 50; ++i) launch(**manager, request);

  using std::chrono::milliseconds;
  compare("sandbox: launch + wait", **manager, request, milliseconds(0), {2.2, 3.0});
  compare("sandbox: launch + wait, after 50 ms", **manager, request, milliseconds(50), {2.2, 0});
  constexpr std::size_t kGibibyte = std::size_t{1} << 30;
  const std::vector<char> resident(kGibibyte, 1);
  compare("sandbox: launch + wait, 1 GiB resident", **manager, request, milliseconds(0), {2.2, 0});
  return resident.back() == 1 ? 0 : 1;
}
