#include "cordon/outcome.h"

namespace cordon {
namespace {

constexpr int kTimedOut = 5;
constexpr int kEndedByCordon = 124;
constexpr int kNotSetUp = 125;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;
constexpr int kSignalBase = 128;

int status_of_failed_start(const Outcome& outcome) {
  if (!outcome.error) return kNotSetUp;
  // A missing working directory is a set-up failure; 127 is for the program alone.
  if (outcome.error->code == ErrorCode::not_found) {
    return outcome.error->stage == "exec" ? kNotFound : kNotSetUp;
  }
  if (outcome.error->code == ErrorCode::not_executable) return kNotExecutable;
  return kNotSetUp;
}

}  // namespace

int exit_status(const Outcome& outcome) {
  switch (outcome.verdict) {
    case Verdict::exited:
      return outcome.exit_code.value_or(kNotSetUp);  // none: its status was lost
    case Verdict::signaled:
      return kSignalBase + outcome.termination.signal;
    case Verdict::timeout:
      return kTimedOut;
    case Verdict::denied:
      return outcome.error ? kNotExecutable : kEndedByCordon;
    case Verdict::failed_to_start:
      return status_of_failed_start(outcome);
    case Verdict::cpu_time:
    case Verdict::memory:
    case Verdict::processes:
    case Verdict::file_size:
    case Verdict::output:
    case Verdict::cancelled:
      return kEndedByCordon;
  }
  return kNotSetUp;
}

}  // namespace cordon
