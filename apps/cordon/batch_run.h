// One request of a batch: admitted, started, ended. What may block (files, the start itself) is in
// launch() and finish(), which run on any thread, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "admission.h"
#include "cordon/audit.h"
#include "cordon/events.h"
#include "cordon/manager.h"
#include "cordon/outcome.h"
#include "execution/live_runs.h"
#include "output.h"
#include "policy/policy.h"
#include "run_options.h"

namespace cordon::app {

// What the requests of a batch have in common. Outlives them.
struct BatchShared {
  Manager& manager;
  const policy::Policy& policy;
  audit::Settings audit;
  std::string results;  // the file that they go to; empty: none
};

// Results are worth nothing where the programs that they tell of can write. Error:
// invalid_argument, a write grant of the request reaches them.
[[nodiscard]] Result<void> check_results_out_of_reach(const std::string& results,
                                                      const Request& request);

class BatchRun {
 public:
  BatchRun(const BatchShared& shared, RunOptions options)
      : shared_(shared), options_(std::move(options)) {}

  enum class Launch : std::uint8_t {
    running,
    ended,  // it could not be started, or may not be: finish() tells
    busy,   // not now: the policy lets no further program run, or the system has no room for it
  };
  // `alone`: no other request is running, so waiting for one to end would be no use.
  [[nodiscard]] Launch launch(bool alone);

  // While it runs. For one thread.
  [[nodiscard]] EventStream& events() { return *events_; }
  void ended(const Outcome& outcome) { outcome_ = outcome; }

  // The outcome, once it is on record. `complete`: what was to be recorded has been.
  struct Finished {
    Outcome outcome;
    bool complete = true;
  };
  [[nodiscard]] Finished finish(Captured captured);

  // From any thread: ends it, now or after its grace. What is not started yet will not be.
  void stop(bool now);
  // Whether stop() has come before its end.
  [[nodiscard]] bool stopped() const { return outcome_ && outcome_->verdict == Verdict::cancelled; }

 private:
  [[nodiscard]] Launch start(RunOptions options, bool alone);
  [[nodiscard]] Launch refuse(Outcome outcome);
  [[nodiscard]] Launch later();
  void end_process();  // the lock is held

  const BatchShared& shared_;
  RunOptions options_;
  execution::LiveRun slot_;
  std::optional<JudgedRun> judged_;
  std::optional<RecordedRun> record_;
  std::optional<EventStream> events_;
  std::optional<Outcome> outcome_;

  std::mutex mutex_;  // of what follows
  std::shared_ptr<Process> process_;
  enum class Stop : std::uint8_t { no, after_grace, now };
  Stop stop_ = Stop::no;
};

}  // namespace cordon::app
