#include "mcp_serve_children.h"

#include <unistd.h>

#include <utility>

#include "base/printable.h"
#include "concat.h"
#include "denial_text.h"
#include "make_manager.h"
#include "mcp/tools/tool_gate.h"
#include "mcp_gate.h"
#include "message.h"
#include "outcome/decide.h"
#include "policy_options.h"
#include "requirements.h"
#include "secret_loading.h"
#include "session.h"
#include "verdict_line.h"
#include "write_all.h"

namespace cordon::app {

struct ServedChildren::Child {
  std::optional<JudgedRun> judged{};
  std::optional<RecordedRun> record{};
  std::optional<WorkDirScope> workdir{};
  bool explain = false;
};

ServedChildren::ServedChildren(ServedProgram program, policy::Policy policy, audit::Settings audit)
    : program_(std::move(program)), policy_(std::move(policy)), audit_(std::move(audit)) {}
ServedChildren::~ServedChildren() = default;

Result<std::unique_ptr<ServedChildren>> ServedChildren::prepare(ServedProgram program) {
  auto policy = load_policy(program.options);
  if (!policy) return std::unexpected(std::move(policy).error());
  auto audit = audit_settings(*policy, program.options);
  if (!audit) return std::unexpected(std::move(audit).error());
  std::unique_ptr<ServedChildren> made(
      new ServedChildren(std::move(program), *std::move(policy), *std::move(audit)));

  RunOptions trial = made->program_.options;
  auto judged = judge_run(trial, made->policy_, Purpose::plan);
  if (!judged) return std::unexpected(std::move(judged).error());
  if (auto permitted = policy::permitted(judged->answer.evaluation); !permitted) {
    return std::unexpected(std::move(permitted).error());
  }
  trial.request = judged->answer.evaluation.request;
  if (auto loaded = load_secrets(trial.secrets, secrets_of(*judged), trial.request); !loaded) {
    return std::unexpected(std::move(loaded).error());
  }
  made->secrets_ = std::move(trial.request.secrets);
  auto record = RecordedRun::open(made->audit_, judged->answer.evaluation.request);
  if (!record) return std::unexpected(std::move(record).error());
  made->record_.emplace(*std::move(record));
  return made;
}

Result<void> ServedChildren::check(Manager& manager) {
  manager_ = &manager;
  if (!record_->id().empty()) calls_.emplace(*record_);  // a thread, and so not before
  RunOptions trial = program_.options;
  auto judged = judge_run(trial, policy_, Purpose::plan);
  if (!judged) return std::unexpected(std::move(judged).error());
  trial.request = judged->answer.evaluation.request;
  trial.request.secrets = secrets_;
  if (auto valid = validate(trial.request); !valid) return valid;
  if (auto planned = plan_workdir(trial.workdir, trial.request, manager); !planned) return planned;
  const auto plan = manager.plan(trial.request);
  if (!plan) return std::unexpected(plan.error());
  return check_required(trial.require, *plan);
}

std::unique_ptr<mcp::Gate> ServedChildren::make_gate() {
  auto rules = tool_rules(policy_, program_.options);
  if (rules.empty() && !calls_) return nullptr;
  return std::make_unique<mcp::ToolGate>(mcp::ToolPolicy(std::move(rules)), real_clock(),
                                         calls_ ? &*calls_ : nullptr);
}

bool ServedChildren::finish() {
  calls_.reset();  // writes the last ones
  const std::lock_guard lock(mutex_);
  return record_->complete() && complete_;
}

Result<std::shared_ptr<Process>> ServedChildren::make() {
  RunOptions options = program_.options;
  auto child = std::make_unique<Child>();
  child->explain = options.request.explain;
  const auto refuse = [&](Error error) -> Result<std::shared_ptr<Process>> {
    if (child->record) (void)child->record->refused(not_started(*manager_, error));
    return std::unexpected(std::move(error));
  };
  if (const auto admitted = admit(options, policy_, audit_, Purpose::run,
                                  {.judged = child->judged, .record = child->record});
      !admitted) {
    return refuse(admitted.error());
  }
  options.workdir.name = child->judged->name;
  options.workdir.version = child->judged->version;
  options.request.secrets = secrets_;
  auto workdir = WorkDirScope::open(options.workdir, options.request, *manager_);
  if (!workdir) return refuse(workdir.error());
  child->workdir.emplace(*std::move(workdir));
  auto process = manager_->create(std::move(options.request));
  if (!process) return refuse(process.error());
  if (const auto recorded = child->record->started(); !recorded) {
    return std::unexpected(recorded.error());
  }
  const std::lock_guard lock(mutex_);
  children_.emplace(process->get(), std::move(child));
  return process;
}

void ServedChildren::ended(const std::shared_ptr<Process>& process) {
  std::unique_ptr<Child> child;
  {
    const std::lock_guard lock(mutex_);
    const auto found = children_.find(process.get());
    if (found == children_.end()) return;
    child = std::move(found->second);
    children_.erase(found);
  }
  auto known = process->outcome();
  const bool started = known.has_value();
  Outcome outcome = started ? *std::move(known)
                            : not_started(*manager_, {.code = ErrorCode::wrong_state,
                                                      .stage = "start",
                                                      .os_error = 0,
                                                      .message = "it was not needed any more"});
  name_policy_lines(outcome, policy_);
  const bool ran = !outcome.error;
  // That it was ended, or has ended, is what sessions come to; a limit is worth telling.
  if (outcome.verdict != Verdict::cancelled && outcome.verdict != Verdict::exited && started) {
    if (const std::string line = verdict_line(outcome); !line.empty()) {
      complain(concat(base::printable(program_.name), ": ", line));
    }
  }
  if (child->explain && ran && !outcome.denials.empty()) {
    (void)write_all(STDERR_FILENO, denial_text(outcome.denials, outcome.denials_omitted));
  }
  (void)child->record->ended(std::move(outcome));
  const bool removed = child->workdir->finish(ran);
  child->record->cleaned_up();
  const bool recorded = child->record->complete();
  const std::lock_guard lock(mutex_);
  complete_ = complete_ && removed && recorded;
}

}  // namespace cordon::app
