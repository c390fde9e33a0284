// From a policy and what was asked for to the request that may be run: resolves what the evaluator
// has to know about the host, asks it, and holds what was looked at until the run has started.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "cordon/error.h"
#include "cordon/request.h"
#include "execution/live_runs.h"
#include "execution/policy_files.h"
#include "policy/evaluate.h"

namespace cordon::execution {

struct PolicyQuestion {
  Request request{};
  std::optional<LoadedManifest> manifest{};
  std::vector<policy::SecretAsk> secrets{};
  bool own_directory = false;       // one is made for it, if nothing asks for another
  policy::Texts tools{};            // of an MCP server
  std::string backend{};            // its name
  bool isolates = true;             // whether it does
  Limits usual{};                   // its limits for what nobody asks for
  policy::LimitValues preferred{};  // before those, unless a policy has a default
  std::uint64_t live_runs = 0;      // besides this one
};

// All decisions; `evaluation.request` is what may be run if permitted(evaluation) says so. Its pins
// borrow from `held`, which has to live until the run has started.
struct PolicyAnswer {
  policy::Evaluation evaluation{};
  std::vector<base::Fd> held{};
};

// A place among the runs that may be alive at once, for as long as the run lives. When all are
// taken `question` says so, and the evaluator refuses naming who has set the limit. Errors: those
// of LiveRuns.
[[nodiscard]] Result<LiveRun> take_slot(const policy::Policy& policy, PolicyQuestion& question);

// Errors: what cannot be asked at all (the program or a granted path is not there …). A refusal is
// no error here: see permitted().
[[nodiscard]] Result<PolicyAnswer> ask_policy(const policy::Policy& policy,
                                              const PolicyQuestion& question);

}  // namespace cordon::execution
