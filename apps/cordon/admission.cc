#include "admission.h"

#include <utility>

namespace cordon::app {

Result<void> admit(RunOptions& options, policy::Policy policy, const audit::Settings& settings,
                   Purpose purpose, Admission admission) {
  if (options.request.cwd.empty() && policy::gives_workdir(policy)) options.workdir.wanted = true;
  auto judged = judge_run(options, std::move(policy), purpose);
  Result<void> permitted;
  if (!judged) {
    permitted = std::unexpected(judged.error());
  } else {
    permitted = policy::permitted(judged->answer.evaluation);
  }
  if (permitted) options.request = judged->answer.evaluation.request;
  auto record = RecordedRun::open(settings, options.request);
  if (!record) {
    Error error = std::move(record).error();
    // It is not the program that is not permitted.
    if (error.code == ErrorCode::not_permitted) error.code = ErrorCode::system;
    return std::unexpected(std::move(error));
  }
  admission.record.emplace(*std::move(record));
  if (!permitted) return permitted;
  admission.judged.emplace(*std::move(judged));
  return {};
}

}  // namespace cordon::app
