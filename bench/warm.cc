// Launching and waiting for a program in a sandbox that was ready before: against a bare
// posix_spawn of the same program.
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cordon/pool.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/launches.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kRounds = 100;
constexpr std::size_t kGroup = 8;
// More than a group takes: a pool begins to make new ones when half of them are gone, and would
// have a processor for that.
constexpr std::size_t kReady = 2 * kGroup;

// What is compared is a launch that finds a sandbox, so those are waited for; how many can be made
// is another figure.
void wait_until_ready(cordon::Pool& pool, const cordon::Request& request) {
  if (auto ready = pool.warm(request, kReady); !ready) give_up(ready.error().message);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

void compare(const std::string& name, cordon::Pool& pool, const cordon::Request& request,
             const std::vector<std::string>& args, Goals goals) {
  const cordon::Launch wanted = request.reuse ? cordon::Launch::reused : cordon::Launch::warm;
  const BareSpawn bare(request.program, args);
  Samples theirs;
  Samples ours;
  std::size_t left = 0;
  interleave(
      kRounds, kGroup, [&] { theirs.add(seconds([&] { BareSpawn::wait(bare.start()); })); },
      [&] {
        if (left == 0) {
          wait_until_ready(pool, request);
          left = kGroup;
        }
        --left;
        cordon::Outcome outcome;
        const double took = seconds([&] { outcome = launch(pool.manager(), request); });
        if (outcome.launch == wanted) ours.add(took);
      });
  report_launches(name, ours, theirs, goals);
}

}  // namespace

int main() {
  reduce_environment();
  std::filesystem::current_path(std::filesystem::path(program("exits")).parent_path());
  auto pool = cordon::Pool::make({.size = kReady});
  if (!pool) give_up(pool.error().message);
  const cordon::Request exits = limited_request(program("exits"));
  compare("warm: launch + wait, static", **pool, exits, {}, {1.00, 1.2});
  compare("warm: launch + wait, /bin/true", **pool, limited_request("/bin/true"), {}, {1.00, 1.2});
  cordon::Request python = limited_request("/usr/bin/python3");
  python.args = {"-c", "pass"};
  compare("warm: launch + wait, python3 -c pass", **pool, python, python.args, {1.00, 1.2});
  cordon::Request again = exits;
  again.reuse = cordon::Tenant::named("bench").value();
  compare("warm: launch + wait, static, same tenant", **pool, again, {}, {0.92, 0});
  constexpr std::size_t kGibibyte = std::size_t{1} << 30;
  const std::vector<char> resident(kGibibyte, 1);
  compare("warm: launch + wait, static, 1 GiB resident", **pool, exits, {}, {1.05, 0});
  return resident.back() == 1 ? 0 : 1;
}
