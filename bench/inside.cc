// Executing a program in a long-lived sandbox and waiting for it: against a bare posix_spawn of the
// same program.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backend/linux/linux_engine.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/launches.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kRounds = 100;
constexpr std::size_t kGroup = 8;

void compare(const std::string& name, cordon::Manager& inside, cordon::Request request,
             Goals goals) {
  request.grants.clear();
  const BareSpawn bare(request.program);
  Samples theirs;
  Samples ours;
  interleave(
      kRounds, kGroup, [&] { theirs.add(seconds([&] { BareSpawn::wait(bare.start()); })); },
      [&] { ours.add(seconds([&] { (void)launch(inside, request); })); });
  report_launches(name, ours, theirs, goals);
}

}  // namespace

int main() {
  reduce_environment();
  std::filesystem::current_path(std::filesystem::path(program("exits")).parent_path());
  auto engine = cordon::linux_backend::make_engine();
  if (!engine) give_up(engine.error().message);
  cordon::Request main = limited_request("/bin/sleep");
  main.args = {"infinity"};
  main.timeout = cordon::kNoTimeout;
  auto container = (*engine)->create({.sandbox_id = "bench", .request = std::move(main)});
  if (!container) give_up(container.error().message);
  cordon::Manager& inside = (*container)->inside();
  for (int i = 0; i < 20; ++i) (void)launch(inside, limited_request(program("exits")));  // caches
  compare("sandbox exec: launch + wait, static", inside, limited_request(program("exits")),
          {.p50 = 1.4});
  compare("sandbox exec: launch + wait, /bin/true", inside, limited_request("/bin/true"),
          {.p50 = 1.4});
  return 0;
}
