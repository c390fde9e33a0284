// The simulated side of a process: its leader and descendants, their streams and resources.
//
// Knows nothing of deadlines and verdicts; tells its owner what happens. Guarded by the
// simulation's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/memory/output_pipes.h"
#include "backend/memory/simulation.h"
#include "backend/memory/stdin_pipe.h"
#include "backend/memory/task.h"
#include "cordon/limits.h"
#include "cordon/outcome.h"
#include "cordon/process.h"

namespace cordon::memory {

// Who supervises a tree. Called with the lock held.
class TreeOwner {
 public:
  virtual void on_end(Lock& lock, int exit_code, int signal) = 0;
  // The tree used more than it may: end it for `verdict`.
  virtual void on_limit(Lock& lock, Verdict verdict, std::string evidence) = 0;
  virtual void on_events(Lock& lock) = 0;
  [[nodiscard]] virtual Self::Facts facts(const Task& task) const = 0;
  // Keeps the tree alive while the lock is released.
  [[nodiscard]] virtual std::shared_ptr<const void> keep() = 0;

 protected:
  ~TreeOwner() = default;
};

class Tree {
 public:
  Tree(Universe& universe, TreeOwner& owner);

  // The leader is ready to run its first step.
  void start(SharedProgram program, const Limits& limits);
  // The leader goes on as in `image`; it is alone.
  void resume(const Task::Image& image, const Limits& limits);
  // Of the leader, which is alive.
  [[nodiscard]] Task::Image image() { return leader_->image(); }
  void signal(Lock& lock, int signal, Reach reach);
  // The supervisor may read output again, or the program its input.
  void pump_output(Lock& lock);
  void wake(WaitingFor what);

  [[nodiscard]] Simulation& simulation() { return simulation_; }
  [[nodiscard]] TreeOwner& owner() { return owner_; }
  [[nodiscard]] StdinPipe& input() { return input_; }
  [[nodiscard]] OutputPipes& output() { return output_; }
  [[nodiscard]] const OutputPipes& output() const { return output_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] Duration elapsed() const { return simulation_.now() - started_; }
  [[nodiscard]] std::int64_t leader_pid() const { return leader_ ? leader_->pid() : 0; }

  // What it has used so far.
  [[nodiscard]] const Usage& usage() const { return usage_; }
  [[nodiscard]] std::uint64_t memory_now() const;
  void settle_cpu();
  [[nodiscard]] Duration cpu_used() const { return *usage_.cpu_user + *usage_.cpu_system; }
  [[nodiscard]] const std::vector<LimitHit>& limits_hit() const { return limits_hit_; }

  // --- For tasks.
  // False: there are too many.
  bool fork(Task& parent, const SharedProgram& child);
  [[nodiscard]] bool has_children(const Task& parent) const;
  std::size_t write(Lock& lock, Stream stream, const std::shared_ptr<const std::string>& owner,
                    std::string_view bytes);
  void book_cpu(Duration user, Duration system);
  void check_cpu(Lock& lock);
  // How long until the processor-time limit, at the present pace.
  [[nodiscard]] Duration cpu_left() const;
  void check_memory(Lock& lock);
  void note_hit(std::string_view name, std::uint64_t limit, std::uint64_t observed,
                std::string_view evidence);
  void ended(Lock& lock, Task& task, int exit_code, int signal);

 private:
  void begin(const Limits& limits);
  [[nodiscard]] std::uint64_t alive() const;
  void raise_alarm(Lock& lock, OutputPipes::Alarm alarm);
  void bury();

  Universe& universe_;
  Simulation& simulation_;
  TreeOwner& owner_;
  std::optional<Task> leader_;
  std::vector<std::unique_ptr<Task>> descendants_;
  bool over_ = false;

  TimePoint started_{};
  Limits limits_;
  StdinPipe input_;
  OutputPipes output_;
  Usage usage_;
  std::vector<LimitHit> limits_hit_;
};

}  // namespace cordon::memory
