#include "backend/memory/tree.h"

#include <algorithm>
#include <utility>

#include "backend/memory/universe.h"

namespace cordon::memory {

Tree::Tree(Universe& universe, TreeOwner& owner)
    : universe_(universe), simulation_(universe.simulation), owner_(owner) {}

void Tree::start(SharedProgram program, const Limits& limits) {
  begin(limits);
  leader_.emplace(*this, std::move(program), universe_.next_pid++);
  ++universe_.live;
  simulation_.make_ready(*leader_);
}

void Tree::resume(const Task::Image& image, const Limits& limits) {
  begin(limits);
  leader_.emplace(*this, image, universe_.next_pid++);
  usage_.memory_peak_bytes = leader_->memory();
  ++universe_.live;
  simulation_.make_ready(*leader_);
}

void Tree::begin(const Limits& limits) {
  limits_ = limits;
  started_ = simulation_.now();
  usage_ = {.cpu_user = Duration{0},
            .cpu_system = Duration{0},
            .memory_peak_bytes = 0,
            .processes_peak = 1};
}

void Tree::signal(Lock& lock, int signal, Reach reach) {
  if (reach == Reach::tree) {
    // By index: a dying program may change the list. The leader last, since its end is the end.
    for (std::size_t i = descendants_.size(); i-- > 0;) descendants_[i]->deliver(lock, signal);
  }
  leader_->deliver(lock, signal);
}

std::uint64_t Tree::alive() const {
  const auto descendants =
      std::ranges::count_if(descendants_, [](const auto& task) { return task->alive(); });
  return static_cast<std::uint64_t>(descendants) + (leader_ && leader_->alive() ? 1 : 0);
}

bool Tree::fork(Task& parent, const SharedProgram& child) {
  const std::uint64_t wanted = alive() + 1;
  if (limits_.processes && wanted > *limits_.processes) {
    note_hit("processes", *limits_.processes, wanted, "EAGAIN from fork");
    return false;
  }
  bury();
  descendants_.push_back(std::make_unique<Task>(*this, child, universe_.next_pid++, parent));
  ++universe_.live;
  usage_.processes_peak = std::max(*usage_.processes_peak, wanted);
  simulation_.make_ready(*descendants_.back());
  return true;
}

// Frees descendants that are gone.
void Tree::bury() {
  std::erase_if(descendants_,
                [](const auto& task) { return !task->alive() && !task->executing(); });
}

bool Tree::has_children(const Task& parent) const {
  return std::ranges::any_of(
      descendants_, [&](const auto& task) { return task->alive() && task->parent() == &parent; });
}

void Tree::ended(Lock& lock, Task& task, int exit_code, int signal) {
  --universe_.live;
  if (&task != &*leader_) {
    for (const auto& other : descendants_) {
      if (other->parent() == &task) other->forget_parent();
    }
    wake(WaitingFor::children);
    return;
  }
  over_ = true;
  for (std::size_t i = descendants_.size(); i-- > 0;) descendants_[i]->end(lock, 0, SIGKILL);
  input_.close_reader();
  output_.finish(elapsed());
  owner_.on_end(lock, exit_code, signal);
}

void Tree::wake(WaitingFor what) {
  const auto wake_one = [&](Task& task) {
    if (task.alive() && task.waiting_for() == what) simulation_.make_ready(task);
  };
  if (leader_) wake_one(*leader_);
  for (const auto& task : descendants_) wake_one(*task);
}

// --- Output.

std::size_t Tree::write(Lock& lock, Stream stream, const std::shared_ptr<const std::string>& owner,
                        std::string_view bytes) {
  auto alarm = OutputPipes::Alarm::none;
  const std::size_t taken = output_.write(stream, owner, bytes, elapsed(), alarm);
  raise_alarm(lock, alarm);
  if (!over_) owner_.on_events(lock);
  return taken;
}

void Tree::pump_output(Lock& lock) {
  if (over_ || !leader_) return;
  auto alarm = OutputPipes::Alarm::none;
  if (output_.pump(elapsed(), alarm)) wake(WaitingFor::output);
  raise_alarm(lock, alarm);
  if (!over_) owner_.on_events(lock);
}

void Tree::raise_alarm(Lock& lock, OutputPipes::Alarm alarm) {
  if (alarm == OutputPipes::Alarm::over_limit) owner_.on_limit(lock, Verdict::output, {});
  if (alarm == OutputPipes::Alarm::overflow) {
    owner_.on_limit(lock, Verdict::output, "the event buffer is full");
  }
}

// --- Resources.

std::uint64_t Tree::memory_now() const {
  std::uint64_t total = leader_ ? leader_->memory() : 0;
  for (const auto& task : descendants_) total += task->memory();
  return total;
}

void Tree::check_memory(Lock& lock) {
  const std::uint64_t now = memory_now();
  usage_.memory_peak_bytes = std::max(*usage_.memory_peak_bytes, now);
  if (limits_.memory_bytes && now > *limits_.memory_bytes) {
    owner_.on_limit(lock, Verdict::memory, "memory the simulated programs have in use");
  }
}

void Tree::settle_cpu() {
  if (!leader_) return;
  leader_->settle_cpu();
  for (const auto& task : descendants_) task->settle_cpu();
}

void Tree::book_cpu(Duration user, Duration system) {
  *usage_.cpu_user += user;
  *usage_.cpu_system += system;
}

void Tree::check_cpu(Lock& lock) {
  if (limits_.cpu_time && cpu_used() >= *limits_.cpu_time) {
    owner_.on_limit(lock, Verdict::cpu_time, {});
  }
}

Duration Tree::cpu_left() const {
  if (!limits_.cpu_time) return Duration::max();
  constexpr Duration kFinest = std::chrono::microseconds(1);
  auto burning = std::ranges::count_if(descendants_, [](const auto& t) { return t->burning(); });
  if (leader_->burning()) ++burning;
  return std::max(kFinest, (*limits_.cpu_time - cpu_used()) / std::max<std::int64_t>(1, burning));
}

void Tree::note_hit(std::string_view name, std::uint64_t limit, std::uint64_t observed,
                    std::string_view evidence) {
  const auto known = std::ranges::find(limits_hit_, name, &LimitHit::name);
  if (known != limits_hit_.end()) {
    known->observed = std::max(known->observed.value_or(0), observed);
    return;
  }
  limits_hit_.push_back({std::string(name), limit, observed, std::string(evidence)});
}

}  // namespace cordon::memory
