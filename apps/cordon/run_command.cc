#include "run_command.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "cordon/manager.h"
#include "denial_text.h"
#include "help.h"
#include "make_manager.h"
#include "message.h"
#include "outcome/decide.h"
#include "report_file.h"
#include "requirements.h"
#include "run_json.h"
#include "run_options.h"
#include "session.h"
#include "signals.h"
#include "terminal.h"
#include "verdict_line.h"
#include "write_all.h"

namespace cordon::app {
namespace {

Streams streams_for(const RunOptions& options) {
  if (options.json) return Streams::capture;
  // With one of them redirected the program must see that, so it gets the streams as they are.
  const bool interactive =
      is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && is_terminal(STDERR_FILENO);
  if (interactive) return Streams::terminal;
  return options.request.limits.output_bytes ? Streams::copy : Streams::inherit;
}

Outcome perform(RunOptions options, const SignalBlock& block) {
  const auto manager = make_manager(options.backend);
  if (!manager) return outcome::failed_to_start(0, "", {}, manager.error());

  const Streams streams = streams_for(options);
  connect(options.request, streams);
  if (!options.require.empty()) {
    const auto plan = (*manager)->plan(options.request);
    if (!plan) return not_started(**manager, plan.error());
    if (const auto kept = check_required(options.require, *plan); !kept) {
      return outcome::failed_to_start(0, plan->backend, plan->enforcement, kept.error());
    }
  }
  return run_session(**manager, options.request, streams, block);
}

// How the end of the run is told, besides a report.
struct Wanted {
  bool json = false;
  bool explain = false;
};

// A program that never ran was refused nothing.
bool has_run(const Outcome& outcome) { return outcome.verdict != Verdict::failed_to_start; }

// Tells about the end of the run in every way asked for. False: one of them failed.
bool tell(const Outcome& outcome, const Wanted& wanted, std::optional<ReportFile>& report) {
  bool told = true;
  if (wanted.json) {
    told = print(run_json(outcome)) == 0;
  } else {
    if (const std::string line = verdict_line(outcome); !line.empty()) complain(line);
    if (wanted.explain && has_run(outcome)) {
      // As with every complaint: a stderr that cannot be written to is not our problem.
      (void)write_all(STDERR_FILENO, denial_text(outcome.denials, outcome.denials_omitted));
    }
  }
  if (report) {
    if (const auto written = report->write(to_json(outcome) + '\n'); !written) {
      complain(written.error().message);
      told = false;
    }
  }
  return told;
}

}  // namespace

int run_command(std::vector<std::string> arguments) {
  auto options = parse_run_options(std::move(arguments));
  if (!options) return usage_error(options.error().message, "cordon run --help");
  if (options->help) return print(run_help());

  std::optional<ReportFile> report;
  if (!options->report.empty()) {
    auto opened = ReportFile::open(options->report);
    if (!opened) {
      complain(opened.error().message);
      return kOwnFailure;
    }
    report.emplace(*std::move(opened));
  }

  const Wanted wanted{.json = options->json, .explain = options->request.explain};
  std::optional<SignalBlock> block(std::in_place);
  const Outcome outcome = perform(*std::move(options), *block);
  block.reset();  // from here on a signal ends the command as usual
  return tell(outcome, wanted, report) ? exit_status(outcome) : kOwnFailure;
}

}  // namespace cordon::app
