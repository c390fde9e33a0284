// What a record costs: launching and waiting for a sandboxed program with and without an audit log,
// and verifying a long log.
#include "cordon/audit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "audit/log.h"
#include "audit/verify.h"
#include "cordon/manager.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/launches.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kRounds = 100;
constexpr std::size_t kGroup = 10;
constexpr std::size_t kRecords = 100'000;
constexpr double kMicro = 1e6;
constexpr double kMostShare = 1.03;
constexpr double kMostSeconds = 1.0;

template <typename T>
T checked(cordon::Result<T> result) {
  if (!result) give_up(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// As the command does it: opened for this run, three records.
void recorded_launch(cordon::Manager& manager, const cordon::Request& request,
                     const cordon::audit::Settings& settings) {
  auto recorder = checked(cordon::audit::RunRecorder::open(settings, request));
  checked(recorder.started());
  checked(recorder.ended(launch(manager, request)));
  checked(recorder.cleaned_up("nothing of the run is left"));
}

void compare(const std::string& name, cordon::Manager& manager, const cordon::Request& request,
             const cordon::audit::Settings& settings, bool goal) {
  Samples without;
  Samples with;
  interleave(
      kRounds, kGroup, [&] { without.add(seconds([&] { (void)launch(manager, request); })); },
      [&] { with.add(seconds([&] { recorded_launch(manager, request, settings); })); });
  Figure figure{.name = name + ", p50",
                .measured = fmt::format("{:.0f} µs", with.p50() * kMicro),
                .baseline = fmt::format("{:.0f} µs", without.p50() * kMicro),
                .ratio = with.p50() / without.p50(),
                .samples = with.size()};
  if (goal) {
    figure.goal = fmt::format("≤ {:.2f} × without", kMostShare);
    figure.met = *figure.ratio <= kMostShare;
  }
  report(figure);
}

// The records of a run alone, without the run.
void records_alone(const cordon::Request& request, const cordon::audit::Settings& settings,
                   const cordon::Outcome& outcome) {
  Samples samples;
  for (std::size_t i = 0; i < kRounds * kGroup; ++i) {
    samples.add(seconds([&] {
      auto recorder = checked(cordon::audit::RunRecorder::open(settings, request));
      checked(recorder.started());
      checked(recorder.ended(outcome));
      checked(recorder.cleaned_up("nothing of the run is left"));
    }));
  }
  report({.name = "audit: the records of one run, p50",
          .measured = fmt::format("{:.0f} µs", samples.p50() * kMicro),
          .samples = samples.size()});
}

void verify_many(const cordon::audit::Settings& settings, const cordon::Outcome& outcome) {
  const auto log = checked(cordon::audit::Log::open(settings, cordon::real_clock()));
  using cordon::audit::Entry;
  using cordon::audit::Operation;
  // As a run leaves them.
  const std::string id(32, 'a');
  const Entry plain{.operation = Operation::start, .run = id, .program = "/usr/bin/true"};
  Entry exit = plain;
  exit.operation = Operation::exit;
  exit.outcome = to_json(outcome);
  const std::vector<Entry> run = {plain, exit, plain};
  for (std::size_t i = 0; i < kRecords; i += run.size()) (void)checked(log->append(run));
  const auto verify = [&] {
    const auto result = checked(cordon::audit::verify(settings.directory, {}));
    if (result.defect_count != 0 || result.records < kRecords) give_up("the log is wrong");
  };
  Samples samples;
  for (int i = 0; i < 5; ++i) samples.add(seconds(verify));
  report({.name = fmt::format("audit: verify {} records", kRecords),
          .goal = fmt::format("< {:.0f} s", kMostSeconds),
          .measured = fmt::format("{:.2f} s", samples.p50()),
          .samples = samples.size(),
          .met = samples.p50() < kMostSeconds});
}

}  // namespace

int main() {
  reduce_environment();
  std::string top = std::filesystem::temp_directory_path() / "cordon-bench-audit-XXXXXX";
  if (::mkdtemp(top.data()) == nullptr) give_up("no directory for the log");
  std::filesystem::current_path(std::filesystem::path(program("exits")).parent_path());
  const auto manager = checked(cordon::linux_manager());
  const cordon::Request request = limited_request(program("exits"));
  cordon::Outcome outcome;
  for (int i = 0; i < 50; ++i) outcome = launch(*manager, request);

  records_alone(request, {.directory = top + "/alone"}, outcome);
  compare("audit: launch + wait, recorded", *manager, request, {.directory = top + "/fast"}, true);
  compare("audit: launch + wait, recorded on disk", *manager, request,
          {.directory = top + "/durable", .durable = true}, false);
  verify_many({.directory = top + "/many"}, outcome);
  std::filesystem::remove_all(top);
  return 0;
}
