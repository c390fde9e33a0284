#include "backend/memory/task.h"

#include <algorithm>
#include <utility>

#include "backend/memory/step_runner.h"
#include "backend/memory/tree.h"

namespace cordon::memory {

Task::Task(Tree& tree, SharedProgram program, std::int64_t pid)
    : tree_(tree), pid_(pid), timer_(&Task::on_timer, this) {
  push(std::move(program));
}

Task::Task(Tree& tree, SharedProgram program, std::int64_t pid, Task& parent)
    : Task(tree, std::move(program), pid) {
  parent_ = &parent;
  for (const auto& [signal, reaction] : parent.reactions_) {
    if (reaction.ignore) reactions_[signal] = reaction;
  }
}

Task::Task(Tree& tree, const Image& image, std::int64_t pid)
    : tree_(tree),
      pid_(pid),
      frames_(image.frames),
      timer_(&Task::on_timer, this),
      reactions_(image.reactions),
      memory_(image.memory) {
  // What was to be waited for is still to be waited for.
  const Duration later = tree.simulation().now() - image.at;
  for (Frame& frame : frames_) {
    if (frame.until != TimePoint::max()) frame.until += later;
  }
}

Task::Image Task::image() {
  settle_cpu();
  return {.at = tree_.simulation().now(),
          .frames = frames_,
          .reactions = reactions_,
          .memory = memory_};
}

void Task::on_timer(void* task, Lock& lock) { static_cast<Task*>(task)->run(lock); }

void Task::run(Lock& lock) {
  if (executing_) return;  // further down this stack, or on another thread's
  executing_ = true;
  execute(lock);
  executing_ = false;
}

void Task::execute(Lock& lock) {
  tree_.simulation().cancel(timer_);
  waiting_for_ = WaitingFor::nothing;
  while (alive_) {
    if (has_signal()) take_signals(lock);
    if (!alive_ || stopped_) return;
    if (frames_.empty()) {
      end(lock, 0, 0);
      return;
    }
    const Frame& top = frames_.back();
    if (top.index == top.program->steps().size()) {
      frames_.pop_back();
      continue;
    }
    // Kept: a step may replace the script it belongs to.
    const std::shared_ptr<const Step> step = top.program->steps()[top.index];
    if (StepRunner(*this, lock).run(*step) == Next::blocked && !has_signal()) return;
  }
}

void Task::push(SharedProgram program, int handles) {
  Frame frame;
  frame.program = std::move(program);
  frame.handles = handles;
  frames_.push_back(std::move(frame));
}

void Task::next_step() {
  Frame& top = frames_.back();
  ++top.index;
  top.begun = false;
  top.progress = 0;
}

void Task::wake_at(TimePoint at) {
  if (at != TimePoint::max()) tree_.simulation().arm(timer_, at);
}

void Task::end(Lock& lock, int exit_code, int signal) {
  if (!alive_) return;
  settle_cpu();
  burst_from_.reset();
  alive_ = false;
  memory_ = 0;
  waiting_for_ = WaitingFor::nothing;
  tree_.simulation().cancel(timer_);
  tree_.simulation().unready(*this);
  tree_.ended(lock, *this, exit_code, signal);
}

void Task::settle_cpu() {
  if (!burst_from_) return;
  constexpr std::uint32_t kOneCore = 1000;
  const auto share = std::min(tree_.limits().cpu_millicores.value_or(kOneCore), kOneCore);
  const TimePoint now = tree_.simulation().now();
  Duration used = (now - *burst_from_) * share / kOneCore;
  burst_from_ = now;

  Frame& top = frames_.back();
  const Duration user = std::min(used, top.cpu_user);
  const Duration system = std::min(used - user, top.cpu_system);
  top.cpu_user -= user;
  top.cpu_system -= system;
  tree_.book_cpu(user, system);
}

}  // namespace cordon::memory
