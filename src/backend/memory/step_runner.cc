#include "backend/memory/step_runner.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "backend/memory/tree.h"

namespace cordon::memory {

using namespace std::chrono_literals;

Next StepRunner::run(const Step& step) {
  return std::visit([this](const auto& what) { return (*this)(what); }, step.what);
}

TimePoint StepRunner::now() const { return tree_.simulation().now(); }

Next StepRunner::done() {
  if (task_.alive()) task_.next_step();
  return Next::go_on;
}

Next StepRunner::done_then(const SharedProgram& steps) {
  task_.next_step();
  if (steps) task_.push(steps);
  return Next::go_on;
}

Next StepRunner::wait_until(TimePoint at) {
  task_.wake_at(at);
  return Next::blocked;
}

Next StepRunner::wait_for(WaitingFor what) {
  task_.waiting_for_ = what;
  return Next::blocked;
}

// --- Time and the end.

Next StepRunner::operator()(const Sleep& step) {
  if (!frame().begun) {
    frame().begun = true;
    frame().until = tree_.simulation().after(step.duration);
  }
  return now() >= frame().until ? done() : wait_until(frame().until);
}

Next StepRunner::operator()(const Hang&) { return Next::blocked; }

Next StepRunner::operator()(const Exit& step) {
  constexpr int kByte = 0xff;  // as the OS: only the low byte reaches the parent
  task_.end(lock_, step.code & kByte, 0);
  return Next::blocked;
}

Next StepRunner::operator()(const Die& step) {
  task_.end(lock_, 0, step.signal);
  return Next::blocked;
}

Next StepRunner::operator()(const OnSignal& step) {
  if (can_be_changed(step.signal)) {
    switch (step.reaction) {
      case OnSignal::Reaction::standard:
        task_.reactions_.erase(step.signal);
        break;
      case OnSignal::Reaction::ignore:
        task_.reactions_[step.signal] = {true, nullptr};
        break;
      case OnSignal::Reaction::handle:
        task_.reactions_[step.signal] = {false, step.steps};
        break;
    }
  }
  return done();
}

// --- Descendants.

Next StepRunner::operator()(const Fork& step) {
  for (std::uint64_t i = 0; i < step.count; ++i) {
    if (!tree_.fork(task_, step.child)) return done_then(step.refused);
  }
  return done();
}

Next StepRunner::operator()(const WaitChildren&) {
  return tree_.has_children(task_) ? wait_for(WaitingFor::children) : done();
}

// --- Resources.

Next StepRunner::operator()(const UseCpu& step) {
  if (!frame().begun) {
    frame().begun = true;
    frame().cpu_user = step.user;
    frame().cpu_system = step.system;
  }
  tree_.settle_cpu();
  tree_.check_cpu(lock_);
  if (!task_.alive()) return Next::blocked;

  const Duration left = frame().cpu_user + frame().cpu_system;
  if (left <= Duration{0}) {
    task_.burst_from_.reset();
    return done();
  }
  task_.burst_from_ = now();
  constexpr std::int64_t kOneCore = 1000;
  const auto share =
      std::min<std::int64_t>(tree_.limits().cpu_millicores.value_or(kOneCore), kOneCore);
  const Duration slice = std::min(left, tree_.cpu_left());
  return wait_until(now() + (slice * kOneCore + Duration(share - 1)) / share);
}

Next StepRunner::operator()(const UseMemory& step) {
  task_.memory_ = step.bytes;
  tree_.check_memory(lock_);
  return done();
}

Next StepRunner::operator()(const WriteFile& step) {
  const auto& limit = tree_.limits().file_size_bytes;
  if (!limit || step.bytes <= *limit) return done();
  tree_.note_hit("file_size", *limit, step.bytes, "SIGXFSZ");
  task_.next_step();
  task_.deliver(lock_, SIGXFSZ);
  return Next::go_on;
}

Next StepRunner::operator()(const OpenFiles& step) {
  constexpr std::uint64_t kStandardStreams = 3;
  const auto& limit = tree_.limits().open_files;
  const std::uint64_t wanted = step.count + kStandardStreams;
  if (!limit || wanted <= *limit) return done();
  tree_.note_hit("open_files", *limit, wanted, "EMFILE");
  return done_then(step.refused);
}

// --- Composition.

Next StepRunner::operator()(const Repeat& step) {
  if (frame().progress == step.times) return done();
  if (step.times == kEndless) {
    if (frame().begun && frame().until == now()) {
      frame().begun = false;
      return wait_until(now() + 1ms);
    }
    frame().begun = true;
    frame().until = now();
  } else {
    ++frame().progress;
  }
  task_.push(step.steps);
  return Next::go_on;
}

Next StepRunner::operator()(const Call& step) {
  task_.next_step();
  call_out(step.action);
  return Next::go_on;
}

}  // namespace cordon::memory
