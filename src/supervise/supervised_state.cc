// SupervisedProcess: settings before the start, and looks at the state.
#include <utility>

#include "supervise/process_settings.h"
#include "supervise/supervised_process.h"

namespace cordon::supervise {

Result<void> SupervisedProcess::must_be_created(std::string_view operation) const {
  if (state_ == State::created) return {};
  return already_started(request_, operation);
}

Result<void> SupervisedProcess::must_run(std::string_view operation) const {
  if (state_ == State::running) return {};
  return not_running(request_, state_ == State::ended, operation);
}

template <typename Field>
Result<void> SupervisedProcess::replace(Field Request::* field, Field value,
                                        std::string_view name) {
  const Lock lock(mutex_);
  if (auto ok = must_be_created(name); !ok) return ok;
  return set_field(request_, field, std::move(value));
}

Result<void> SupervisedProcess::set_stdin(Input input) {
  return replace(&Request::in, std::move(input), "set_stdin");
}
Result<void> SupervisedProcess::set_stdout(Output output) {
  return replace(&Request::out, std::move(output), "set_stdout");
}
Result<void> SupervisedProcess::set_stderr(Output output) {
  return replace(&Request::err, std::move(output), "set_stderr");
}

Result<void> SupervisedProcess::set_limits(const Limits& limits) {
  const Lock lock(mutex_);
  if (auto ok = must_be_created("set_limits"); !ok) return ok;
  if (auto ok = validate(limits); !ok) return ok;
  auto child = shared_->backend->prepare(request_, limits);
  if (!child) return std::unexpected(std::move(child.error()));
  child_ = std::move(*child);
  limits_ = limits;
  return {};
}

Limits SupervisedProcess::limits() const {
  const Lock lock(mutex_);
  return limits_;
}

std::optional<std::int64_t> SupervisedProcess::os_pid() const {
  const Lock lock(mutex_);
  if (state_ != State::running) return std::nullopt;
  return child_->os_pid();
}

bool SupervisedProcess::running() const {
  const Lock lock(mutex_);
  return state_ == State::running;
}

std::optional<int> SupervisedProcess::exit_code() const {
  const Lock lock(mutex_);
  return outcome_ ? outcome_->exit_code : std::nullopt;
}

std::optional<Outcome> SupervisedProcess::outcome() const {
  const Lock lock(mutex_);
  if (!outcome_) return std::nullopt;
  return *outcome_;
}

Status SupervisedProcess::status() {
  const Lock lock(mutex_);
  Status s;
  s.id = id_;
  s.running = state_ == State::running;
  if (outcome_) s.exit_code = outcome_->exit_code;
  if (started_wall_ != WallTime{}) s.start_time = started_wall_;
  if (state_ != State::running) return s;

  s.os_pid = child_->os_pid();
  if (const auto sample = child_->sample()) {
    const TimePoint t = real_clock().now();
    const Measured before = last_status_.value_or(Measured{started_});
    const Duration wall = t - before.at;
    if (wall > Duration{0}) {
      s.cpu_percent = 100.0 * static_cast<double>((sample->cpu - before.cpu).count()) /
                      static_cast<double>(wall.count());
    }
    s.memory_bytes = sample->memory_bytes;
    s.memory_anonymous_bytes = sample->memory_anonymous_bytes;
    last_status_ = Measured{t, sample->cpu};
  }
  return s;
}

EventStream SupervisedProcess::events() { return EventStream(shared_from_this()); }

Duration SupervisedProcess::since_start() const { return real_clock().now() - started_; }

}  // namespace cordon::supervise
