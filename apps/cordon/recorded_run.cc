#include "recorded_run.h"

#include <utility>

#include "concat.h"
#include "message.h"

namespace cordon::app {

Result<RecordedRun> RecordedRun::open(const audit::Settings& settings, const Request& request) {
  RecordedRun run(settings.on_failure);
  if (settings.directory.empty()) return run;
  auto recorder = audit::RunRecorder::open(settings, request);
  if (!recorder) return std::unexpected(std::move(recorder).error());
  run.recorder_.emplace(*std::move(recorder));
  return run;
}

std::string RecordedRun::id() const {
  return recorder_ && recorder_->failure() == nullptr ? recorder_->id() : std::string();
}

Result<void> RecordedRun::started() {
  auto recorded = recorder_ ? recorder_->started() : Result<void>();
  started_ = recorded.has_value();
  told_ = !recorded;
  return recorded;
}

Result<void> RecordedRun::in_sandbox(const std::string& detail) {
  return recorder_ ? recorder_->in_sandbox(detail) : Result<void>();
}

Result<void> RecordedRun::planned(const Plan& plan) {
  return recorder_ ? recorder_->planned(plan) : Result<void>();
}

Result<void> RecordedRun::called(std::span<const audit::Call> calls) {
  return recorder_ ? recorder_->called(calls) : Result<void>();
}

Outcome RecordedRun::refused(Outcome outcome) {
  if (recorder_) (void)recorder_->refused(outcome);
  return outcome;
}

Outcome RecordedRun::ended(Outcome outcome) {
  if (recorder_) (void)recorder_->ended(outcome);
  return outcome;
}

void RecordedRun::signalled(int signal) {
  if (recorder_) (void)recorder_->signalled(signal);
}

void RecordedRun::cleaned_up() {
  if (recorder_ && started_) (void)recorder_->cleaned_up("nothing of the run is left");
}

bool RecordedRun::complete() const {
  const Error* const failure = recorder_ ? recorder_->failure() : nullptr;
  if (failure == nullptr || told_) return true;
  complain(concat("not everything was recorded: ", failure->message));
  return on_failure_ == audit::OnFailure::proceed;
}

}  // namespace cordon::app
