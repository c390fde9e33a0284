#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "admission.h"
#include "base/errors.h"
#include "concat.h"
#include "message.h"
#include "outcome/decide.h"
#include "policy_options.h"
#include "pool_request.h"
#include "recorded_run.h"
#include "report_file.h"
#include "run_json.h"
#include "sandbox_attend.h"
#include "sandbox_command.h"
#include "sandbox_options.h"
#include "sandbox_remote.h"
#include "sandbox_verbs.h"
#include "session.h"
#include "signals.h"
#include "terminal.h"
#include "verdict_line.h"

namespace cordon::app::sandbox {
namespace {

Streams streams_for(const Line& line) {
  if (line.json) return Streams::capture;
  return interactive() ? Streams::terminal : Streams::copy;
}

std::vector<std::string_view> environment() {
  std::vector<std::string_view> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  return all;
}

// What is asked for, whoever reads it.
Request carried(Request request) {
  const std::string cwd = std::exchange(request.cwd, "/");
  const auto output = request.limits.output_bytes;
  const Limits limits = request.limits;
  Request complete = pool::for_pool(std::move(request), limits, "/", environment());
  complete.cwd = cwd;
  complete.limits.output_bytes = output;
  if (complete.timeout == Duration{0}) complete.timeout = kNoTimeout;
  return complete;
}

// Everything about one exec that outlives a step of it.
struct Execution {
  Line line;
  std::optional<JudgedRun> judged{};
  std::optional<RecordedRun> record{};
  std::optional<SignalBlock> block{};
  std::string backend{};
  bool detached = false;
  ProcessId process = 0;
};

// The policy's word: the site's, the sandbox's own, and what the options name.
Result<void> admit(Execution& execution, const Record& record) {
  RunOptions& options = execution.line.run;
  options.backend = Backend::linux_sandbox;
  options.policies.insert(options.policies.begin(), record.policies.begin(), record.policies.end());
  if (options.profile.empty()) options.profile = record.profile;
  auto policy = load_policy(options);
  if (!policy) return std::unexpected(std::move(policy.error()));
  auto settings = audit_settings(*policy, options);
  if (!settings) return std::unexpected(std::move(settings.error()));
  auto admitted = app::admit(options, *std::move(policy), *settings, Purpose::run,
                             {.judged = execution.judged, .record = execution.record});
  if (!admitted) return admitted;
  if (!options.request.pins.empty()) {
    return base::fail(ErrorCode::unsupported, "policy",
                      "the policy has checked the program's file, and in a sandbox that runs it "
                      "cannot be made sure that this file is run: use cordon run");
  }
  return {};
}

Outcome refused(Execution& execution, const Error& error) {
  Outcome outcome = outcome::failed_to_start(0, execution.backend, {}, error);
  return execution.record ? execution.record->refused(std::move(outcome)) : outcome;
}

Outcome perform(Execution& execution) {
  Line& line = execution.line;
  const auto found = look(line.name);
  if (!found) return refused(execution, found.error());
  execution.backend = found->record.backend;
  if (auto admitted = admit(execution, found->record); !admitted) {
    return refused(execution, admitted.error());
  }
  auto channel = reach(line.name, "exec");
  if (!channel) return refused(execution, channel.error());
  RemoteManager manager(*std::move(channel), execution.backend);
  Request request = carried(std::move(line.run.request));
  const Streams streams = streams_for(line);
  connect(request, streams);
  if (line.tty && !request.terminal) {
    request.terminal = TerminalSize{};
    request.in = Input::pipe();
  }
  if (auto recorded = execution.record->started(); !recorded) {
    return outcome::failed_to_start(0, execution.backend, {}, recorded.error());
  }
  if (line.detach) {
    if (!line.tty) request.in = Input::none();
    const auto process = manager.create(std::move(request));
    if (const auto started = (*process)->start(); !started) {
      return refused(execution, started.error());
    }
    execution.detached = true;
    execution.process = manager.remote()->started().process;
    return {};
  }
  execution.block.emplace();
  let_hangup_detach();
  Outcome outcome = run_session(manager, std::move(request), streams, *execution.block, {},
                                [&](int signal) { execution.record->signalled(signal); });
  if (manager.remote() && manager.remote()->detached()) {
    execution.detached = true;
    execution.process = manager.remote()->started().process;
    return {};
  }
  return execution.record->ended(std::move(outcome));
}

int tell_detached(const Execution& execution) {
  const Line& line = execution.line;
  const std::string number = std::to_string(execution.process);
  if (line.json) {
    return print(concat(R"({"schema":"cordon.sandbox.exec/1","name":")", line.name,
                        R"(","process":)", number, "}\n"));
  }
  if (line.detach) return print(concat(number, "\n"));
  complain(concat("detached: 'cordon sandbox connect ", line.name, " ", number, "' goes on"));
  return 0;
}

}  // namespace

int exec_verb(std::vector<std::string> arguments) {
  auto line = parse_line(exec_grammar(), std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  std::optional<ReportFile> report;
  if (!line->run.report.empty()) {
    auto opened = ReportFile::open(line->run.report);
    if (!opened) {
      complain(opened.error().message);
      return kOwnFailure;
    }
    report.emplace(*std::move(opened));
  }
  Execution execution{.line = *std::move(line)};
  const Outcome outcome = perform(execution);
  execution.block.reset();  // from here on a signal ends the command as usual
  if (execution.detached) return tell_detached(execution);
  if (execution.record) execution.record->cleaned_up();
  bool told = true;
  if (execution.line.json) {
    told = print(run_json(outcome)) == 0;
  } else if (const std::string text = verdict_line(outcome); !text.empty()) {
    complain(text);
  }
  if (report) {
    if (const auto written = report->write(to_json(outcome) + '\n'); !written) {
      complain(written.error().message);
      told = false;
    }
  }
  const bool recorded = !execution.record || execution.record->complete();
  return recorded && told ? exit_status(outcome) : kOwnFailure;
}

}  // namespace cordon::app::sandbox
