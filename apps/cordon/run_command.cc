#include "run_command.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "admission.h"
#include "concat.h"
#include "cordon/manager.h"
#include "denial_text.h"
#include "help.h"
#include "image_rootfs.h"
#include "make_manager.h"
#include "mcp_gate.h"
#include "mcp_visit.h"
#include "message.h"
#include "outcome/decide.h"
#include "output_log.h"
#include "policy_options.h"
#include "pool_run.h"
#include "recorded_run.h"
#include "report_file.h"
#include "requirements.h"
#include "run_json.h"
#include "run_options.h"
#include "secret_loading.h"
#include "secrets/redactor.h"
#include "session.h"
#include "signals.h"
#include "terminal.h"
#include "verdict_line.h"
#include "workdir_scope.h"
#include "write_all.h"

namespace cordon::app {
namespace {

Streams streams_for(const RunOptions& options) {
  if (options.mcp) return options.visit ? Streams::visit : Streams::mcp;
  if (options.json) return Streams::capture;
  if (options.log.transport == Transport::http) return Streams::log;
  // With one of them redirected the program must see that, so it gets the streams as they are.
  const bool interactive =
      is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && is_terminal(STDERR_FILENO);
  if (interactive) return Streams::terminal;
  const bool read = options.request.limits.output_bytes || !options.log.file.empty() ||
                    redacts(options.secrets, false);
  return read ? Streams::copy : Streams::inherit;
}

supervise::TextFilter filter_of(const Redacted& redacted) {
  if (!redacted) return {};
  auto redactor = std::make_shared<secrets::Redactor>(redacted);
  return {.add = [redactor](std::string_view text) { return redactor->add(text); },
          .finish = [redactor] { return redactor->finish(); }};
}

// The file of the log that was asked for, empty for stderr; nothing: no log.
Result<std::optional<base::Fd>> open_log(const RunOptions& options) {
  if (!options.log.file.empty()) return open_log_file(options.log.file);
  if (options.log.transport == Transport::stdio || options.json) return std::nullopt;
  return base::Fd();
}

// Everything about one run that outlives a step of it.
struct Run {
  RunOptions options;
  std::optional<base::Fd> log;
  std::optional<PoolContact> contact;   // with the user's pool
  std::optional<JudgedRun> judged{};    // holds what was checked until the program has started
  std::optional<RecordedRun> record{};  // from the moment that it is known where
  std::optional<SignalBlock> block{};   // from then on signals are the program's
  PoolEntry pool{};                     // a place in the user's pool, or why there is none
  bool complete = true;                 // all was done that was asked for besides the run
};

// What comes before there is a manager, and while there is but one thread: the policy's word, the
// record of it, the secrets. Error: the run is refused.
Result<void> admit(Run& run) {
  RunOptions& options = run.options;
  auto image = open_rootfs(options);
  if (!image) return std::unexpected(std::move(image).error());
  auto policy = load_policy(options);
  if (!policy) return std::unexpected(std::move(policy).error());
  auto settings = audit_settings(*policy, options);
  if (!settings) return std::unexpected(std::move(settings).error());
  auto admitted = admit(options, *std::move(policy), *settings, Purpose::run,
                        {.judged = run.judged, .record = run.record});
  if (!admitted) return admitted;
  if (auto unpacked = unpack_rootfs(*image, options); !unpacked) return unpacked;
  options.workdir.name = run.judged->name;
  options.workdir.version = run.judged->version;
  // Before threads are started: a source may keep us waiting, and variables are taken out of the
  // environment.
  return load_secrets(options.secrets, secrets_of(*run.judged), options.request);
}

// The program with the command's streams, its record and its log.
Outcome converse(Manager& manager, Run& run) {
  RunOptions& options = run.options;
  const Streams streams = streams_for(options);
  std::optional<McpGate> gate;
  if (options.mcp) gate.emplace(run.judged->policy, options, *run.record);
  mcp::Gate* const looking = gate ? gate->gate() : nullptr;
  connect(options.request, streams, looking != nullptr);
  if (options.log.transport == Transport::http) options.request.in = Input::none();
  if (!options.require.empty()) {
    const auto plan = manager.plan(options.request);
    if (!plan) return run.record->refused(not_started(manager, plan.error()));
    if (const auto kept = check_required(options.require, *plan); !kept) {
      return run.record->refused(
          outcome::failed_to_start(0, plan->backend, plan->enforcement, kept.error()));
    }
  }

  OutputTaps taps;
  const bool captured = streams == Streams::capture;
  auto redacted = redacted_values(options.secrets, captured || run.log, options.request.secrets);
  if (!redacted) return run.record->refused(not_started(manager, redacted.error()));
  if (redacts(options.secrets, captured)) taps.redacted = *redacted;
  std::optional<OutputLog> lines;
  if (run.log) {
    lines.emplace(*std::move(run.log), options.log.file, [&] { return filter_of(*redacted); });
    taps.log = &*lines;
  }
  if (const auto recorded = run.record->started(); !recorded) {
    return not_started(manager, recorded.error());
  }
  Outcome outcome = run_session(manager, std::move(options.request), streams, *run.block, taps,
                                [&](int signal) { run.record->signalled(signal); },
                                {.gate = looking,
                                 .visit = options.visit.get(),
                                 .ends_whole = !run.pool.run && options.backend != Backend::posix &&
                                               options.backend != Backend::gvisor});
  gate.reset();  // the last calls come before the end
  if (run.pool.run) outcome = run.pool.run->judged(std::move(outcome));
  if (outcome.launch_note.empty()) outcome.launch_note = std::move(run.pool.note);
  name_policy_lines(outcome, run.judged->policy);
  return run.record->ended(std::move(outcome));
}

Outcome perform(Run& run) {
  RunOptions& options = run.options;
  if (const auto admitted = admit(run); !admitted) {
    Outcome refused = outcome::failed_to_start(0, std::string(backend_name(options.backend)), {},
                                               admitted.error());
    return run.record ? run.record->refused(std::move(refused)) : refused;
  }
  run.block.emplace();
  auto entry = enter_pool(options, streams_for(options), *run.block, std::move(run.contact));
  if (!entry) {
    return run.record->refused(
        outcome::failed_to_start(0, std::string(backend_name(options.backend)), {}, entry.error()));
  }
  run.pool = *std::move(entry);
  if (run.pool.run) return converse(*run.pool.run->manager, run);
  const auto manager = make_manager(options.backend);
  if (!manager) return run.record->refused(outcome::failed_to_start(0, "", {}, manager.error()));
  if (const auto valid = validate(options.request); !valid) {
    return run.record->refused(not_started(**manager, valid.error()));
  }
  auto workdir = WorkDirScope::open(options.workdir, options.request, **manager);
  if (!workdir) return run.record->refused(not_started(**manager, workdir.error()));
  Outcome outcome = converse(**manager, run);
  run.complete = workdir->finish(/*ran=*/!outcome.error);
  return outcome;
}

// How the end of the run is told, besides a report.
struct Wanted {
  bool json = false;
  bool explain = false;
  bool elsewhere = false;  // somebody else tells of it
};

// A program that never ran was refused nothing.
bool has_run(const Outcome& outcome) { return !outcome.error; }

// Tells about the end of the run in every way asked for. False: one of them failed.
bool tell(const Outcome& outcome, const Wanted& wanted, const std::optional<RecordedRun>& record,
          std::optional<ReportFile>& report) {
  bool told = true;
  if (wanted.json) {
    told = print(run_json(outcome)) == 0;
  } else if (!wanted.elsewhere) {
    if (const std::string line = verdict_line(outcome); !line.empty()) complain(line);
    if (wanted.explain && has_run(outcome)) {
      // As with every complaint: a stderr that cannot be written to is not our problem.
      (void)write_all(STDERR_FILENO, denial_text(outcome.denials, outcome.denials_omitted));
      if (!outcome.denials.empty() && record && !record->id().empty()) {
        complain(concat("this run is ", record->id(), ": see cordon explain --help"));
      }
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

int own_failure(const Error& error) {
  complain(error.message);
  return kOwnFailure;
}

}  // namespace

int run_command(std::vector<std::string> arguments) {
  auto options = parse_run_options(std::move(arguments));
  if (!options) return usage_error(options.error().message, "cordon run --help");
  if (options->help) return print(run_help());
  return run_asked(*std::move(options));
}

int run_asked(RunOptions options) {
  std::optional<PoolContact> contact = contact_pool(options);

  std::optional<ReportFile> report;
  if (!options.report.empty()) {
    auto opened = ReportFile::open(options.report);
    if (!opened) return own_failure(opened.error());
    report.emplace(*std::move(opened));
  }
  auto log = open_log(options);
  if (!log) return own_failure(log.error());

  const auto visit = options.visit;
  const Wanted wanted{
      .json = options.json, .explain = options.request.explain, .elsewhere = visit != nullptr};
  Run run{.options = std::move(options), .log = *std::move(log), .contact = std::move(contact)};
  const Outcome outcome = perform(run);
  run.block.reset();  // from here on a signal ends the command as usual
  if (run.record) run.record->cleaned_up();
  const bool told = tell(outcome, wanted, run.record, report);
  const bool recorded = !run.record || run.record->complete();
  const int end = visit ? visit->tell(outcome) : exit_status(outcome);
  const int status = recorded && run.complete && told ? end : kOwnFailure;
  // Of a run in a pool nothing is left here but a connection and a thread, which end with us.
  if (run.pool.run) ::_exit(status);
  return status;
}

}  // namespace cordon::app
