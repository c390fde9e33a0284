#include "sandbox_attend.h"

#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "make_manager.h"
#include "policy_options.h"
#include "pool_request.h"
#include "terminal.h"

namespace cordon::app::sandbox {
namespace {

std::vector<std::string_view> environment() {
  std::vector<std::string_view> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  return all;
}

}  // namespace

Result<void> admit_inside(RunOptions& options, const Record& record, Admission admission) {
  options.backend = backend_named(record.backend);  // the policy has a say about it
  options.policies.insert(options.policies.begin(), record.policies.begin(), record.policies.end());
  if (options.profile.empty()) options.profile = record.profile;
  auto policy = load_policy(options);
  if (!policy) return std::unexpected(std::move(policy.error()));
  auto settings = audit_settings(*policy, options);
  if (!settings) return std::unexpected(std::move(settings.error()));
  auto admitted = admit(options, *std::move(policy), *settings, Purpose::run, admission);
  if (!admitted || options.request.pins.empty()) return admitted;
  return base::fail(ErrorCode::unsupported, "policy",
                    "the policy has checked the program's file, and in a sandbox that runs it "
                    "cannot be made sure that this file is run: use cordon run");
}

Request carried(Request request) {
  const std::string cwd = std::exchange(request.cwd, "/");
  const Limits limits = request.limits;
  Request complete = pool::for_pool(std::move(request), limits, "/", environment());
  complete.cwd = cwd;
  complete.limits.output_bytes = limits.output_bytes;
  if (complete.timeout == Duration{0}) complete.timeout = kNoTimeout;
  return complete;
}

bool interactive() {
  return is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && is_terminal(STDERR_FILENO);
}

void let_hangup_detach() {
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  pthread_sigmask(SIG_UNBLOCK, &hangup, nullptr);
}

}  // namespace cordon::app::sandbox
