// What comes before any run: the policy's word, and the record of it, also of a refusal.
#pragma once

#include <optional>

#include "cordon/audit.h"
#include "cordon/error.h"
#include "policy/policy.h"
#include "policy_options.h"
#include "recorded_run.h"
#include "run_options.h"

namespace cordon::app {

// Where the parts of an admission go.
struct Admission {
  std::optional<JudgedRun>& judged;    // holds what was checked until the program has started
  std::optional<RecordedRun>& record;  // from the moment that it is known where
};

// On success `options.request` is what may be run. Error: it is refused; the record, if there is
// one, is still to be told of it. For Purpose::plan the run is not counted among those alive.
[[nodiscard]] Result<void> admit(RunOptions& options, policy::Policy policy,
                                 const audit::Settings& settings, Purpose purpose,
                                 Admission admission);

}  // namespace cordon::app
