// How the user of the command ends a run. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "cordon/process.h"
#include "wake.h"

namespace cordon::app {

class RunControl {
 public:
  // `process` and `abandoned` must outlive this object. `sent` hears of every signal. `abandoned`
  // is set as soon as the run is being ended: output that nobody reads must not hold the command up
  // any more.
  RunControl(Process& process, Duration grace, const Wake& abandoned,
             std::function<void(int signal)> sent)
      : process_(process), grace_(grace), abandoned_(abandoned), sent_(std::move(sent)) {}

  // Ctrl-C: the first `signal` is the program's, the second ends the run, the third does so at
  // once.
  void interrupt(int signal);
  // Ends the run, with grace.
  void cancel();

 private:
  Process& process_;
  Duration grace_;
  const Wake& abandoned_;
  std::function<void(int signal)> sent_;
  std::atomic<int> interrupts_ = 0;
};

}  // namespace cordon::app
