// Policy and manifest of a run: what the options name is loaded, judged, and put into the request.
#pragma once

#include <string>

#include "cordon/audit.h"
#include "cordon/error.h"
#include "execution/apply_policy.h"
#include "execution/live_runs.h"
#include "policy/policy.h"
#include "run_options.h"
#include "secret_loading.h"

namespace cordon::app {

struct JudgedRun {
  policy::Policy policy;           // of all files; its digest is for the audit log
  execution::PolicyAnswer answer;  // the decisions; holds what was checked
  execution::LiveRun slot;         // among the runs that may be alive at once
  std::string name;                // of the manifest; empty: there is none
  std::string version;
};

enum class Purpose : std::uint8_t { run, plan };

// A run is counted among those alive. Errors: a file is wrong or cannot be trusted, or what is
// asked for is not there. A refusal is no error here: see policy::permitted().
[[nodiscard]] Result<JudgedRun> judge_run(const RunOptions& options, policy::Policy policy,
                                          Purpose purpose);
[[nodiscard]] Result<policy::Policy> load_policy(const RunOptions& options);

// For a plan, which is not recorded when it is refused: both of the above, and `options.request`
// replaced by what may be run. Keep the result until then. Errors: also not_permitted, the policy
// refuses.
[[nodiscard]] Result<JudgedRun> apply_policy(RunOptions& options);

// Where the log is, and how it is kept: as the policy says, and as the options ask within that. A
// run that is explained is recorded even if nobody says where, as well as it can be. Error:
// not_permitted, the options ask for another place or key.
[[nodiscard]] Result<audit::Settings> audit_settings(const policy::Policy& policy,
                                                     const RunOptions& options);

// What would allow a denial, where a line of the policy stands in the way of the option for it.
void name_policy_lines(Outcome& outcome, const policy::Policy& policy);

// The sources that the policy names. Borrows `judged`.
[[nodiscard]] PolicySecrets secrets_of(const JudgedRun& judged);

}  // namespace cordon::app
