#include <utility>

#include "backend/memory/task.h"
#include "backend/memory/tree.h"

namespace cordon::memory {

void Task::deliver(Lock& lock, int signal) {
  if (!alive_) return;
  if (signal == SIGKILL) return end(lock, 0, SIGKILL);
  if (signal == SIGSTOP) return stop();
  if (signal == SIGCONT && stopped_) {
    stopped_ = false;
    tree_.simulation().make_ready(*this);
  }
  const auto reaction = reactions_.find(signal);
  if (reaction != reactions_.end() && reaction->second.ignore) return;
  if (stopped_ || reaction != reactions_.end()) {
    pending_.add(signal);
    if (!stopped_) tree_.simulation().make_ready(*this);
    return;
  }
  react(lock, signal);
}

bool Task::has_signal() const {
  if (pending_.empty() || stopped_) return false;
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    if (pending_.has(signal) && !handling(signal)) return true;
  }
  return false;
}

void Task::take_signals(Lock& lock) {
  for (int signal = 1; signal <= kLastSignal && alive_ && !stopped_; ++signal) {
    if (!pending_.has(signal) || handling(signal)) continue;
    pending_.remove(signal);
    react(lock, signal);
  }
}

bool Task::handling(int signal) const {
  for (const Frame& frame : frames_) {
    if (frame.handles == signal) return true;
  }
  return false;
}

void Task::react(Lock& lock, int signal) {
  if (const auto reaction = reactions_.find(signal); reaction != reactions_.end()) {
    if (reaction->second.ignore) return;
    settle_cpu();
    burst_from_.reset();
    push(reaction->second.steps, signal);
    return;
  }
  switch (default_action(signal)) {
    case DefaultAction::end:
      return end(lock, 0, signal);
    case DefaultAction::stop:
      return stop();
    case DefaultAction::ignore:
    case DefaultAction::go_on:
      return;
  }
}

void Task::stop() {
  settle_cpu();
  burst_from_.reset();
  stopped_ = true;
  tree_.simulation().cancel(timer_);
}

}  // namespace cordon::memory
