#include "run_command.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "cordon/manager.h"
#include "help.h"
#include "make_manager.h"
#include "message.h"
#include "outcome/decide.h"
#include "output_log.h"
#include "report_file.h"
#include "requirements.h"
#include "run_json.h"
#include "run_options.h"
#include "session.h"
#include "signals.h"
#include "terminal.h"
#include "verdict_line.h"
#include "workdir_scope.h"

namespace cordon::app {
namespace {

Streams streams_for(const RunOptions& options) {
  if (options.json) return Streams::capture;
  if (options.log.transport == Transport::http) return Streams::log;
  // With one of them redirected the program must see that, so it gets the streams as they are.
  const bool interactive =
      is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && is_terminal(STDERR_FILENO);
  if (interactive) return Streams::terminal;
  const bool read = options.request.limits.output_bytes || !options.log.file.empty();
  return read ? Streams::copy : Streams::inherit;
}

Outcome run_with(Manager& manager, RunOptions& options, const SignalBlock& block, OutputLog* log) {
  const Streams streams = streams_for(options);
  connect(options.request, streams);
  if (options.log.transport == Transport::http) options.request.in = Input::none();
  if (!options.require.empty()) {
    const auto plan = manager.plan(options.request);
    if (!plan) return not_started(manager, plan.error());
    if (const auto kept = check_required(options.require, *plan); !kept) {
      return outcome::failed_to_start(0, plan->backend, plan->enforcement, kept.error());
    }
  }
  return run_session(manager, options.request, streams, block, log);
}

// `done`: whether all was done that was asked for besides the run.
Outcome perform(RunOptions options, const SignalBlock& block, OutputLog* log, bool& done) {
  const auto manager = make_manager(options.backend);
  if (!manager) return outcome::failed_to_start(0, "", {}, manager.error());

  auto workdir = WorkDirScope::open(options.workdir, options.request, **manager);
  if (!workdir) return not_started(**manager, workdir.error());
  Outcome outcome = run_with(**manager, options, block, log);
  done = workdir->finish(/*ran=*/!outcome.error);
  return outcome;
}

// The log that was asked for; none: all right, too.
Result<void> open_log(const RunOptions& options, std::optional<OutputLog>& log) {
  base::Fd file;
  if (!options.log.file.empty()) {
    auto opened = open_log_file(options.log.file);
    if (!opened) return std::unexpected(opened.error());
    file = *std::move(opened);
  } else if (options.log.transport == Transport::stdio || options.json) {
    return {};
  }
  log.emplace(std::move(file), options.log.file);
  return {};
}

// Tells about the end of the run in every way asked for. False: one of them failed.
bool tell(const Outcome& outcome, bool json, std::optional<ReportFile>& report) {
  bool told = true;
  if (json) {
    told = print(run_json(outcome)) == 0;
  } else if (const std::string line = verdict_line(outcome); !line.empty()) {
    complain(line);
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

  std::optional<OutputLog> log;
  if (const auto opened = open_log(*options, log); !opened) {
    complain(opened.error().message);
    return kOwnFailure;
  }

  const bool json = options->json;
  bool done = true;
  std::optional<SignalBlock> block(std::in_place);
  const Outcome outcome = perform(*std::move(options), *block, log ? &*log : nullptr, done);
  block.reset();  // from here on a signal ends the command as usual
  return tell(outcome, json, report) && done ? exit_status(outcome) : kOwnFailure;
}

}  // namespace cordon::app
