// The audit records of a long-lived sandbox: one run for each program, with the sandbox named; what
// was done to the sandbox is in the record of its main program. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cordon/audit.h"
#include "cordon/process.h"

namespace cordon::sandbox {

class LifeRecords {
 public:
  // No settings: nothing is recorded, and nothing fails.
  LifeRecords(std::optional<audit::Settings> settings, std::string backend)
      : settings_(std::move(settings)), backend_(std::move(backend)) {}

  // One program's record, until it is known whether it was started.
  class Pending {
   public:
    Pending() = default;

   private:
    friend class LifeRecords;
    std::shared_ptr<audit::RunRecorder> recorder_;  // null: nothing is recorded
  };

  // `what` is about to be done, which starts the request's program. Error: do not.
  [[nodiscard]] Result<Pending> begin(const Request& request, const std::string& what) const;
  void failed(const Pending& pending, const Error& error) const;
  void started_main(const Pending& pending, const std::shared_ptr<Process>& process);
  void started(const Pending& pending, const std::shared_ptr<Process>& process);

  // `what` is about to be done to the sandbox. Error: do not.
  [[nodiscard]] Result<void> note(const std::string& what) const;
  // Records the ends there have been since.
  void settle();
  // Nothing is left.
  void over(const std::string& detail);

 private:
  struct Running {
    std::shared_ptr<audit::RunRecorder> recorder;
    std::shared_ptr<Process> process;
  };

  [[nodiscard]] std::shared_ptr<audit::RunRecorder> main() const;

  const std::optional<audit::Settings> settings_;
  const std::string backend_;
  mutable std::mutex mutex_;
  std::shared_ptr<audit::RunRecorder> main_;
  std::vector<Running> running_;
};

}  // namespace cordon::sandbox
