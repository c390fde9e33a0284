#include "sandbox/life_records.h"

#include <utility>

#include "outcome/decide.h"

namespace cordon::sandbox {

Result<LifeRecords::Pending> LifeRecords::begin(const Request& request,
                                                const std::string& what) const {
  Pending pending;
  if (!settings_) return pending;
  auto recorder = audit::RunRecorder::open(*settings_, request);
  if (!recorder) return std::unexpected(std::move(recorder.error()));
  pending.recorder_ = std::make_shared<audit::RunRecorder>(*std::move(recorder));
  if (auto noted = pending.recorder_->in_sandbox(what); !noted) {
    return std::unexpected(std::move(noted.error()));
  }
  if (auto started = pending.recorder_->started(); !started) {
    return std::unexpected(std::move(started.error()));
  }
  return pending;
}

void LifeRecords::failed(const Pending& pending, const Error& error) const {
  if (!pending.recorder_) return;
  (void)pending.recorder_->ended(outcome::failed_to_start(0, backend_, {}, error));
}

void LifeRecords::started_main(const Pending& pending, const std::shared_ptr<Process>& process) {
  {
    const std::scoped_lock lock(mutex_);
    main_ = pending.recorder_;
  }
  started(pending, process);
}

void LifeRecords::started(const Pending& pending, const std::shared_ptr<Process>& process) {
  if (!pending.recorder_) return;
  const std::scoped_lock lock(mutex_);
  running_.push_back({.recorder = pending.recorder_, .process = process});
}

std::shared_ptr<audit::RunRecorder> LifeRecords::main() const {
  const std::scoped_lock lock(mutex_);
  return main_;
}

Result<void> LifeRecords::note(const std::string& what) const {
  const auto recorder = main();
  return recorder ? recorder->in_sandbox(what) : Result<void>();
}

void LifeRecords::settle() {
  std::vector<Running> ended;
  {
    const std::scoped_lock lock(mutex_);
    std::vector<Running> left;
    for (Running& entry : running_) {
      const bool over = entry.process->outcome().has_value();
      // Made, never started, and nobody has it any more: there will be no end.
      if (!over && entry.process.use_count() == 1 && !entry.process->running()) continue;
      (over ? ended : left).push_back(std::move(entry));
    }
    running_ = std::move(left);
  }
  for (const Running& entry : ended) (void)entry.recorder->ended(*entry.process->outcome());
}

void LifeRecords::over(const std::string& detail) {
  settle();
  if (const auto recorder = main()) (void)recorder->cleaned_up(detail);
  const std::scoped_lock lock(mutex_);
  main_ = nullptr;
}

}  // namespace cordon::sandbox
