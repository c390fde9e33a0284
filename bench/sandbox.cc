// Launching and waiting for a sandboxed program that ends at once: full isolation with control
// groups and verification, against a bare posix_spawn.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cordon/manager.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/launches.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kRounds = 100;
constexpr std::size_t kGroup = 10;

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
        ours.add(seconds([&] { (void)launch(manager, request); }));
        rest();
      });
  report_launches(name, ours, theirs, goals);
}

}  // namespace

int main() {
  reduce_environment();
  std::filesystem::current_path(std::filesystem::path(program("exits")).parent_path());
  auto manager = cordon::linux_manager();
  if (!manager) give_up(manager.error().message);
  const cordon::Request request = limited_request(program("exits"));
  for (int i = 0; i < 50; ++i) (void)launch(**manager, request);

  using std::chrono::milliseconds;
  compare("sandbox: launch + wait", **manager, request, milliseconds(0), {2.2, 3.0});
  compare("sandbox: launch + wait, after 50 ms", **manager, request, milliseconds(50), {2.2, 0});
  constexpr std::size_t kGibibyte = std::size_t{1} << 30;
  const std::vector<char> resident(kGibibyte, 1);
  compare("sandbox: launch + wait, 1 GiB resident", **manager, request, milliseconds(0), {2.2, 0});
  return resident.back() == 1 ? 0 : 1;
}
