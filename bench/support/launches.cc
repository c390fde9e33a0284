#include "support/launches.h"

#include <fmt/format.h>

#include "support/figure.h"

namespace cordon::bench {

Request limited_request(const std::string& path) {
  Request request;
  request.program = path;
  request.in = Input::none();
  request.out = Output::discard();
  request.err = Output::discard();
  request.limits.memory_bytes = std::uint64_t{512} << 20;
  request.limits.processes = 128;
  request.limits.cpu_millicores = 1000;
  request.limits.open_files = 1024;
  return request;
}

Outcome launch(Manager& manager, const Request& request) {
  auto process = manager.create(request);
  if (!process) give_up(process.error().message);
  if (auto started = (*process)->start(); !started) give_up(started.error().message);
  auto outcome = (*process)->wait();
  if (!outcome) give_up(outcome.error().message);
  if (outcome->verdict != Verdict::exited) give_up("the program did not just exit");
  return *std::move(outcome);
}

void report_launches(const std::string& name, const Samples& ours, const Samples& bare,
                     Goals goals) {
  constexpr double kMicro = 1e6;
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
  row("p50", ours.p50(), bare.p50(), goals.p50);
  row("p99", ours.p99(), bare.p99(), goals.p99);
}

}  // namespace cordon::bench
