#include "policy_options.h"

#include <utility>

#include "execution/policy_files.h"
#include "make_manager.h"

namespace cordon::app {

Result<JudgedRun> judge_run(const RunOptions& options) {
  auto policy = execution::load_policy(options.policies, options.profile);
  if (!policy) return std::unexpected(std::move(policy).error());
  execution::PolicyQuestion question{.request = options.request,
                                     .backend = std::string(backend_name(options.backend)),
                                     .isolates = options.backend != Backend::posix,
                                     .usual = usual_limits(options.backend)};
  if (!options.manifest.empty()) {
    auto manifest = execution::load_manifest(options.manifest);
    if (!manifest) return std::unexpected(std::move(manifest).error());
    question.manifest = *std::move(manifest);
  }
  auto answer = execution::ask_policy(*policy, question);
  if (!answer) return std::unexpected(std::move(answer).error());
  return JudgedRun{.policy = *std::move(policy), .answer = *std::move(answer)};
}

Result<JudgedRun> apply_policy(RunOptions& options) {
  auto judged = judge_run(options);
  if (!judged) return judged;
  if (auto ok = policy::permitted(judged->answer.evaluation); !ok) {
    return std::unexpected(std::move(ok).error());
  }
  options.request = judged->answer.evaluation.request;
  return judged;
}

}  // namespace cordon::app
