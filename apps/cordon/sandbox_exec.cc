#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "admission.h"
#include "concat.h"
#include "message.h"
#include "outcome/decide.h"
#include "policy_options.h"
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
#include "verdict_line.h"

namespace cordon::app::sandbox {
namespace {

Streams streams_for(const Line& line) {
  if (line.json) return Streams::capture;
  return interactive() ? Streams::terminal : Streams::copy;
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

Outcome refused(Execution& execution, const Error& error) {
  Outcome outcome = outcome::failed_to_start(0, execution.backend, {}, error);
  return execution.record ? execution.record->refused(std::move(outcome)) : outcome;
}

Outcome perform(Execution& execution) {
  Line& line = execution.line;
  const auto found = look(line.name);
  if (!found) return refused(execution, found.error());
  execution.backend = found->record.backend;
  if (auto admitted = admit_inside(line.run, found->record,
                                   {.judged = execution.judged, .record = execution.record});
      !admitted) {
    return refused(execution, admitted.error());
  }
  auto channel = reach(line.name, "exec");
  if (!channel) return refused(execution, channel.error());
  RemoteManager manager(*std::move(channel), execution.backend, line.run.request.env.size(),
                        execution.record->id());
  Request request = carried(std::move(line.run.request));
  const Streams streams = streams_for(line);
  connect(request, streams);
  if (line.tty && !request.terminal) {
    request.terminal = TerminalSize{};
    request.in = Input::pipe();
  }
  auto recorded = execution.record->in_sandbox(concat("exec ", line.name));
  if (recorded) recorded = execution.record->started();
  if (!recorded) {
    return outcome::failed_to_start(0, execution.backend, {}, recorded.error());
  }
  if (line.detach) {
    if (!line.tty) request.in = Input::none();
    manager.leave_it();
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
