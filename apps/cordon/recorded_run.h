// The audit record of one command, if a log is configured; otherwise all of this does nothing.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cordon/audit.h"
#include "cordon/error.h"
#include "cordon/outcome.h"
#include "cordon/plan.h"
#include "cordon/request.h"

namespace cordon::app {

// Thread-safe.
class RecordedRun {
 public:
  // No directory in `settings`: no record. Error: the log cannot be used, so nothing may be run.
  [[nodiscard]] static Result<RecordedRun> open(const audit::Settings& settings,
                                                const Request& request);

  // Of the run in the log; empty: there is none.
  [[nodiscard]] std::string id() const;

  // Error: do not start it.
  [[nodiscard]] Result<void> started();
  // Error: do not do it.
  [[nodiscard]] Result<void> in_sandbox(const std::string& detail);
  [[nodiscard]] Result<void> planned(const Plan& plan);
  // Error: there are to be no more calls.
  [[nodiscard]] Result<void> called(std::span<const audit::Call> calls);
  // These are told by complete() when they fail. The outcome is handed back.
  [[nodiscard]] Outcome refused(Outcome outcome);
  [[nodiscard]] Outcome ended(Outcome outcome);
  void signalled(int signal);
  void cleaned_up();

  // Says on stderr what could not be recorded. False: and that is a failure.
  [[nodiscard]] bool complete() const;

 private:
  explicit RecordedRun(audit::OnFailure on_failure) : on_failure_(on_failure) {}

  audit::OnFailure on_failure_;
  bool started_ = false;  // and so it is to be cleaned up
  bool told_ = false;     // started() has handed its error to the caller
  std::optional<audit::RunRecorder> recorder_;
};

}  // namespace cordon::app
