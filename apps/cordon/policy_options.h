// Policy and manifest of a run: what the options name is loaded, judged, and put into the request.
#pragma once

#include <string>

#include "cordon/error.h"
#include "execution/apply_policy.h"
#include "policy/policy.h"
#include "run_options.h"

namespace cordon::app {

struct JudgedRun {
  policy::Policy policy;           // of all files; its digest is for the audit log
  execution::PolicyAnswer answer;  // the decisions; holds what was checked
};

// Errors: a file is wrong or cannot be trusted, or what is asked for is not there. A refusal is no
// error here.
[[nodiscard]] Result<JudgedRun> judge_run(const RunOptions& options);

// Replaces `options.request` by what may be run. Keep the result until the run has started. Errors:
// those of judge_run(), and not_permitted: the policy refuses.
[[nodiscard]] Result<JudgedRun> apply_policy(RunOptions& options);

}  // namespace cordon::app
