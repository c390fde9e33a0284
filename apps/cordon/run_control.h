// How the user of the command ends a run. Thread-safe.
#pragma once

#include <atomic>

#include "cordon/process.h"
#include "wake.h"

namespace cordon::app {

class RunControl {
 public:
  // Both must outlive this object. `abandoned` is set as soon as the run is being ended: output
  // that nobody reads must not hold the command up any more.
  RunControl(Process& process, Duration grace, const Wake& abandoned)
      : process_(process), grace_(grace), abandoned_(abandoned) {}

  // Ctrl-C: the first `signal` is the program's, the second ends the run, the third does so at
  // once.
  void interrupt(int signal);
  // Ends the run, with grace.
  void cancel();

 private:
  Process& process_;
  Duration grace_;
  const Wake& abandoned_;
  std::atomic<int> interrupts_ = 0;
};

}  // namespace cordon::app
