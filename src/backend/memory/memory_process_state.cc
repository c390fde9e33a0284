// MemoryProcess: settings before the start, and looks at the state.
#include <utility>

#include "backend/memory/memory_process.h"
#include "supervise/process_settings.h"

namespace cordon::memory {

Result<void> MemoryProcess::must_be_created(std::string_view operation) const {
  if (state_ == State::created) return {};
  return supervise::already_started(request_, operation);
}

Result<void> MemoryProcess::must_run(std::string_view operation) const {
  if (state_ == State::running) return {};
  return supervise::not_running(request_, state_ == State::ended, operation);
}

template <typename Field>
Result<void> MemoryProcess::replace(Field Request::* field, Field value, std::string_view name) {
  const Lock lock(simulation());
  if (auto ok = must_be_created(name); !ok) return ok;
  return supervise::set_field(request_, field, std::move(value));
}

Result<void> MemoryProcess::set_stdin(Input input) {
  return replace(&Request::in, std::move(input), "set_stdin");
}
Result<void> MemoryProcess::set_stdout(Output output) {
  return replace(&Request::out, std::move(output), "set_stdout");
}
Result<void> MemoryProcess::set_stderr(Output output) {
  return replace(&Request::err, std::move(output), "set_stderr");
}

Result<void> MemoryProcess::set_limits(const Limits& limits) {
  const Lock lock(simulation());
  if (auto ok = must_be_created("set_limits"); !ok) return ok;
  if (auto ok = validate(limits); !ok) return ok;
  limits_ = limits;
  return {};
}

Limits MemoryProcess::limits() const {
  const Lock lock(simulation());
  return limits_;
}

std::optional<std::int64_t> MemoryProcess::os_pid() const {
  const Lock lock(simulation());
  if (state_ != State::running) return std::nullopt;
  return tree_.leader_pid();
}

bool MemoryProcess::running() const {
  const Lock lock(simulation());
  return state_ == State::running;
}

std::optional<int> MemoryProcess::exit_code() const {
  const Lock lock(simulation());
  return outcome_ ? outcome_->exit_code : std::nullopt;
}

std::optional<Outcome> MemoryProcess::outcome() const {
  const Lock lock(simulation());
  if (!outcome_) return std::nullopt;
  return *outcome_;
}

Status MemoryProcess::status() {
  const Lock lock(simulation());
  Status s;
  s.id = id_;
  s.running = state_ == State::running;
  if (outcome_) s.exit_code = outcome_->exit_code;
  if (started_wall_) s.start_time = started_wall_;
  if (!s.running) return s;

  s.os_pid = tree_.leader_pid();
  s.memory_bytes = tree_.memory_now();
  tree_.settle_cpu();
  const Measured now{simulation().now(), tree_.cpu_used()};
  const Duration wall = now.at - last_status_.at;
  if (wall > Duration{0}) {
    constexpr double kPercent = 100.0;
    s.cpu_percent = kPercent * static_cast<double>((now.cpu - last_status_.cpu).count()) /
                    static_cast<double>(wall.count());
  }
  last_status_ = now;
  return s;
}

Self::Facts MemoryProcess::facts(const Task& task) const {
  return {.request = request_,
          .limits = limits_,
          .terminal = terminal_ ? terminal_ : request_.terminal,
          .elapsed = tree_.elapsed(),
          .pid = task.pid()};
}

}  // namespace cordon::memory
