#include "batch_run.h"

#include <csignal>
#include <utility>

#include "audit/reach.h"
#include "base/errors.h"
#include "base/printable.h"
#include "concat.h"
#include "execution/apply_policy.h"
#include "make_manager.h"
#include "outcome/decide.h"
#include "requirements.h"
#include "session.h"

namespace cordon::app {
namespace {

// A place among the runs that may be alive at once. Nothing: all are taken. A policy that lets none
// run at all is the evaluator's business, or we would wait forever.
Result<std::optional<execution::LiveRun>> take_slot(const policy::Policy& policy) {
  const auto most = policy::most_live_runs(policy);
  if (!most || most->value == 0) return execution::LiveRun();
  execution::PolicyQuestion question;
  auto slot = execution::take_slot(policy, question);
  if (!slot) return std::unexpected(std::move(slot).error());
  if (question.live_runs > 0) return std::nullopt;
  return *std::move(slot);
}

// Takes a slot of its own only where it has to be refused.
Purpose purpose_under(const policy::Policy& policy) {
  const auto most = policy::most_live_runs(policy);
  return most && most->value == 0 ? Purpose::run : Purpose::plan;
}

Outcome stopped_before_start(const Manager& manager) {
  Outcome outcome = not_started(manager, {.code = ErrorCode::wrong_state,
                                          .stage = "start",
                                          .os_error = 0,
                                          .message = "the batch was stopped before this"});
  outcome.verdict = Verdict::cancelled;
  return outcome;
}

}  // namespace

Result<void> check_results_out_of_reach(const std::string& results, const Request& request) {
  const Grant* const grant =
      results.empty() ? nullptr : audit::grant_that_reaches(results, request);
  if (grant == nullptr) return {};
  return base::fail(ErrorCode::invalid_argument, "results",
                    concat("a program that may write to ", base::printable(grant->source),
                           " could change the results in ", base::printable(results),
                           ": put them elsewhere, or grant less"));
}

BatchRun::Launch BatchRun::launch(bool alone) {
  auto slot = take_slot(shared_.policy);
  if (!slot) return refuse(not_started(shared_.manager, std::move(slot).error()));
  if (!*slot) return Launch::busy;
  slot_ = **std::move(slot);

  RunOptions options = options_;  // for a further try, should there be one
  judged_.reset();
  record_.reset();
  if (const auto admitted =
          admit(options, shared_.policy, shared_.audit, purpose_under(shared_.policy),
                {.judged = judged_, .record = record_});
      !admitted) {
    if (!alone && admitted.error().code == ErrorCode::resource_exhausted) return later();
    return refuse(outcome::failed_to_start(0, std::string(backend_name(options.backend)), {},
                                           admitted.error()));
  }
  if (const auto valid = validate(options.request); !valid) {
    return refuse(not_started(shared_.manager, valid.error()));
  }
  if (const auto safe = check_results_out_of_reach(shared_.results, options.request); !safe) {
    return refuse(not_started(shared_.manager, safe.error()));
  }
  if (!options.require.empty()) {
    const auto plan = shared_.manager.plan(options.request);
    if (!plan) return refuse(not_started(shared_.manager, plan.error()));
    if (const auto kept = check_required(options.require, *plan); !kept) {
      return refuse(outcome::failed_to_start(0, plan->backend, plan->enforcement, kept.error()));
    }
  }
  return start(std::move(options), alone);
}

BatchRun::Launch BatchRun::start(RunOptions options, bool alone) {
  if (const auto recorded = record_->started(); !recorded) {
    outcome_ = not_started(shared_.manager, recorded.error());
    record_.reset();  // there will be none
    return Launch::ended;
  }
  auto created = shared_.manager.create(std::move(options.request));
  if (!created) {
    outcome_ = not_started(shared_.manager, created.error());
    return Launch::ended;
  }
  {
    const std::lock_guard lock(mutex_);
    if (stop_ != Stop::no) {
      outcome_ = stopped_before_start(shared_.manager);
      return Launch::ended;
    }
  }
  events_.emplace((*created)->events());
  const auto started = (*created)->start();
  if (!started) {
    events_.reset();
    const bool may_be_better_later = started.error().code == ErrorCode::resource_exhausted;
    Outcome outcome = (*created)->outcome().value_or(not_started(shared_.manager, started.error()));
    if (may_be_better_later && !alone) {
      (void)record_->ended(std::move(outcome));
      return later();
    }
    outcome_ = std::move(outcome);
    return Launch::ended;
  }
  judged_.reset();  // what was checked is what runs
  const std::lock_guard lock(mutex_);
  process_ = *std::move(created);
  if (stop_ != Stop::no) end_process();
  return Launch::running;
}

BatchRun::Launch BatchRun::later() {
  judged_.reset();
  record_.reset();
  slot_ = {};
  return Launch::busy;
}

BatchRun::Launch BatchRun::refuse(Outcome outcome) {
  outcome_ = record_ ? record_->refused(std::move(outcome)) : std::move(outcome);
  record_.reset();  // that was all there is to it
  return Launch::ended;
}

void BatchRun::stop(bool now) {
  const std::lock_guard lock(mutex_);
  stop_ = now ? Stop::now : Stop::after_grace;
  if (process_) end_process();
}

void BatchRun::end_process() {
  const bool now = stop_ == Stop::now;
  record_->signalled(now ? SIGKILL : SIGTERM);
  (void)(now ? process_->kill() : process_->terminate(options_.request.grace));
}

BatchRun::Finished BatchRun::finish(Captured captured) {
  events_.reset();
  {
    const std::lock_guard lock(mutex_);
    process_.reset();
  }
  Finished finished{.outcome = *outcome_};
  Outcome& outcome = finished.outcome;
  outcome.out = std::move(captured.out);
  outcome.err = std::move(captured.err);
  outcome.output_truncated = outcome.output_truncated || captured.truncated;
  name_policy_lines(outcome, shared_.policy);
  if (record_) {
    (void)record_->ended(outcome);
    record_->cleaned_up();
    finished.complete = record_->complete();
  }
  judged_.reset();
  record_.reset();
  slot_ = {};
  return finished;
}

}  // namespace cordon::app
