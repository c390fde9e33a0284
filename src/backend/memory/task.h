// One simulated program: the leader of a process or one of its descendants.
//
// Executes its script step by step until it has to wait. A step that waits is looked at again when
// the task is made ready, so waking up too often does no harm. Guarded by the simulation's lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "backend/memory/schedule.h"
#include "backend/memory/signals.h"
#include "backend/memory/simulation.h"
#include "backend/memory/step.h"

namespace cordon::memory {

class Tree;

// What a task waits for, besides its timer.
enum class WaitingFor : std::uint8_t { nothing, input, output, children };

// A script being executed; several when functions and signal handlers are at work.
struct Frame {
  SharedProgram program;
  std::size_t index = 0;  // the current step …
  bool begun = false;     // … and how far it has come
  std::uint64_t progress = 0;
  TimePoint until{};
  Duration cpu_user{0};  // still to use
  Duration cpu_system{0};
  int handles = 0;  // the signal this is the handler of
};

class Task final : public Runnable {
 public:
  // How far it has come: enough to go on from there, as often as one likes. Functions in its script
  // are shared with it, and so is what they remember.
  struct Image;

  Task(Tree& tree, SharedProgram program, std::int64_t pid);
  Task(Tree& tree, SharedProgram program, std::int64_t pid, Task& parent);
  Task(Tree& tree, const Image& image, std::int64_t pid);
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  void run(Lock& lock) override;
  void deliver(Lock& lock, int signal);
  // Ends it, by `signal` unless that is 0. Ending the leader ends the tree.
  void end(Lock& lock, int exit_code, int signal);

  [[nodiscard]] bool alive() const { return alive_; }
  // On some thread's stack just now, perhaps without the lock.
  [[nodiscard]] bool executing() const { return executing_; }
  [[nodiscard]] std::int64_t pid() const { return pid_; }
  [[nodiscard]] std::uint64_t memory() const { return memory_; }
  [[nodiscard]] bool burning() const { return burst_from_.has_value(); }
  [[nodiscard]] WaitingFor waiting_for() const { return waiting_for_; }
  [[nodiscard]] Task* parent() const { return parent_; }
  void forget_parent() { parent_ = nullptr; }

  [[nodiscard]] Image image();

  // Books the processor time used since the last call.
  void settle_cpu();

 private:
  friend class StepRunner;
  struct Reaction {
    bool ignore = false;
    SharedProgram steps;
  };

  void execute(Lock& lock);
  // One that can be taken now.
  [[nodiscard]] bool has_signal() const;
  void take_signals(Lock& lock);
  void react(Lock& lock, int signal);
  [[nodiscard]] bool handling(int signal) const;
  void stop();
  void push(SharedProgram program, int handles = 0);
  void next_step();
  void wake_at(TimePoint at);
  static void on_timer(void* task, Lock& lock);

  Tree& tree_;
  Task* parent_ = nullptr;
  const std::int64_t pid_;
  bool alive_ = true;
  bool stopped_ = false;
  bool executing_ = false;
  WaitingFor waiting_for_ = WaitingFor::nothing;
  std::vector<Frame> frames_;
  Timer timer_;

  SignalSet pending_;
  std::map<int, Reaction> reactions_;

  std::uint64_t memory_ = 0;
  std::optional<TimePoint> burst_from_;  // uses the processor since then
};

struct Task::Image {
  TimePoint at{};
  std::vector<Frame> frames;
  std::map<int, Reaction> reactions;
  std::uint64_t memory = 0;
};

}  // namespace cordon::memory
