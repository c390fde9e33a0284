#include "backend/linux/plan_cache.h"

#include <algorithm>
#include <utility>

namespace cordon::linux_backend {
namespace {

constexpr std::size_t kKept = 16;

// Descriptors and secrets belong to one run, and what is in a root may be another thing the next
// time. The others are rare.
bool worth_keeping(const Request& request) {
  return request.pins.empty() && request.secrets.empty() && !request.terminal &&
         request.root.empty();
}

// All fields are named, so that one that is new does not compile until it is decided here whether
// a plan depends on it.
bool same_plan(const Request& a, const Request& b) {
  const auto& [program, args, argv0, cwd, env, env_pass, secrets, in, out, err, terminal, timeout,
               grace, cancel, limits, end_at_process_limit, cgroup_parent, root, grants, pins,
               links_resolved, network, unix_sockets, user, explain, reuse, event_buffer,
               overflow] = a;
  return program == b.program && cwd == b.cwd && limits == b.limits &&
         end_at_process_limit == b.end_at_process_limit && cgroup_parent == b.cgroup_parent &&
         grants == b.grants && links_resolved == b.links_resolved && network == b.network &&
         unix_sockets == b.unix_sockets && user == b.user && explain == b.explain &&
         reuse == b.reuse;
}

// Only what same_plan() looks at.
Request to_remember(const Request& request) {
  Request copy;
  copy.program = request.program;
  copy.cwd = request.cwd;
  copy.limits = request.limits;
  copy.end_at_process_limit = request.end_at_process_limit;
  copy.cgroup_parent = request.cgroup_parent;
  copy.grants = request.grants;
  copy.links_resolved = request.links_resolved;
  copy.network = request.network;
  copy.unix_sockets = request.unix_sockets;
  copy.user = request.user;
  copy.explain = request.explain;
  copy.reuse = request.reuse;
  return copy;
}

}  // namespace

Result<SharedPlan> PlanCache::plan(const Request& request, const Limits& limits,
                                   const plan::Caller& caller, const plan::HostCapabilities& host) {
  const bool keep = worth_keeping(request);
  if (keep) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(known_, [&](const Known& known) {
      return known.host == &host && known.limits == limits && known.caller == caller &&
             same_plan(known.request, request);
    });
    if (found != known_.end()) {
      known_.splice(known_.begin(), known_, found);
      return found->plan;
    }
  }
  auto made = plan::make_sandbox_plan(request, limits, caller, host);
  if (!made) return std::unexpected(std::move(made.error()));
  auto shared = std::make_shared<const plan::SandboxPlan>(*std::move(made));
  if (!keep) return shared;
  const std::lock_guard lock(mutex_);
  known_.push_front({to_remember(request), limits, caller, &host, shared});
  if (known_.size() > kKept) known_.pop_back();
  return shared;
}

}  // namespace cordon::linux_backend
