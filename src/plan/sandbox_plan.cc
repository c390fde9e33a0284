#include "plan/sandbox_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "plan/default_view.h"
#include "plan/grants.h"
#include "plan/guarantees.h"
#include "plan/secrets.h"

namespace cordon::plan {
namespace {

using base::fail;

constexpr std::uint32_t kInsideId = 1000;  // of a program whose caller is root
constexpr const char* kStage = "plan";

std::string why_and_fix(const Feature& feature) {
  std::string text;
  if (!feature.why.empty()) text += ": " + feature.why;
  return text + (feature.fix.empty() ? "; see `cordon doctor`" : "; " + feature.fix);
}

// What this backend stands for: without one of these it does not run anything.
Result<void> check_host(const Request& request, const HostCapabilities& host) {
  const std::pair<const Feature*, const char*> needed[] = {
      {&host.user_namespace, "a user namespace"},
      {&host.mount_namespace, "a mount namespace"},
      {&host.pid_namespace, "a pid namespace"},
      {request.network == Network::host ? nullptr : &host.network_namespace, "a network namespace"},
      {&host.proc_mount, "a /proc of the sandbox's own"},
      {&host.seccomp, "a seccomp filter"},
  };
  for (const auto& [feature, name] : needed) {
    if (feature == nullptr || feature->works) continue;
    return fail(ErrorCode::unsupported, kStage,
                "a sandbox needs " + std::string(name) + ", which does not work here" +
                    why_and_fix(*feature));
  }
  return {};
}

Result<Identity> identity_of(const Request& request, const Caller& caller,
                             const HostCapabilities& host) {
  const User self{caller.uid, caller.gid};
  if (request.user) {
    if (request.user->uid == 0 || (request.user->gid == 0 && *request.user != self)) {
      return fail(ErrorCode::not_permitted, kStage,
                  "user " + std::to_string(request.user->uid) + ":" +
                      std::to_string(request.user->gid) +
                      ": a sandboxed program is never root on the host: choose another user");
    }
    if (*request.user != self && !host.privileged) {
      return fail(ErrorCode::not_permitted, kStage,
                  "user " + std::to_string(request.user->uid) + ":" +
                      std::to_string(request.user->gid) +
                      ": only root may choose another user than itself: leave it out, and the "
                      "program runs as the caller");
    }
    return Identity{request.user->uid, request.user->gid, request.user};
  }
  if (caller.uid != 0) return Identity{caller.uid, caller.gid, self};
  // Root without the right to map other ids (in a container) can only map itself.
  if (!host.privileged) return Identity{kInsideId, kInsideId, self};
  return Identity{kInsideId, kInsideId, std::nullopt};
}

Result<void> check_groups(const Request& request, const SandboxPlan& plan,
                          const HostCapabilities& host) {
  if (!request.cgroup_parent.empty() && host.cgroup == CgroupVersion::none) {
    return fail(ErrorCode::unsupported, kStage,
                "--cgroup-parent " + request.cgroup_parent +
                    ": there are no control groups here that this caller may use: leave it out");
  }
  if (!request.end_at_process_limit || plan.groups.processes) return {};
  if (!plan.limits.processes) {
    return fail(ErrorCode::invalid_argument, kStage,
                "--pids-kill ends a run at its process limit, and it has none: add --pids N");
  }
  return fail(ErrorCode::unsupported, kStage,
              "--pids-kill needs a control group for processes, which does not work here" +
                  why_and_fix(host.cgroup_pids) +
                  "; or leave --pids-kill out: then fork fails inside at the limit");
}

// Files of a root caller are made to appear as the program's own; a write without that would
// leave files of a foreign id, or fail.
Result<void> check_write_grants(const SandboxPlan& plan, const HostCapabilities& host) {
  if (plan.identity.host || host.idmapped_mounts.works) return {};
  const auto it = std::ranges::find_if(plan.root, [](const View& view) {
    return view.granted && view.writable && view.kind == View::Kind::bind;
  });
  if (it == plan.root.end()) return {};
  return fail(ErrorCode::unsupported, kStage,
              "grant write of " + it->source +
                  ": for a root caller this needs idmapped mounts, which do not work here" +
                  why_and_fix(host.idmapped_mounts) +
                  "; or choose a user that owns the directory by --user");
}

}  // namespace

Result<SandboxPlan> make_sandbox_plan(const Request& request, const Limits& limits,
                                      const Caller& caller, const HostCapabilities& host,
                                      const RootDirectory* root) {
  if (auto ok = check_host(request, host); !ok) return std::unexpected(ok.error());
  auto identity = identity_of(request, caller, host);
  if (!identity) return std::unexpected(identity.error());

  SandboxPlan plan;
  plan.identity = *identity;
  plan.network = request.network;
  plan.unix_sockets = request.unix_sockets;
  plan.explain = request.explain;
  plan.reuse = request.reuse;
  plan.landlock_abi = host.landlock_abi;
  plan.limits = limits;
  share_out_limits(plan, host);
  if (auto ok = check_groups(request, plan, host); !ok) return std::unexpected(ok.error());
  if (plan.cgroup != CgroupVersion::none) {
    plan.cgroup_parent = request.cgroup_parent.empty() ? host.cgroup_parent : request.cgroup_parent;
  }

  Caller hiding = caller;
  if (!caller.images.empty()) hiding.own.push_back(caller.images);
  std::vector<View> defaults;
  if (root != nullptr) {
    if (auto ok = check_root(root->source, caller.own); !ok) return std::unexpected(ok.error());
    plan.rootfs = root->source;
    defaults = rooted_view(*root, plan.identity, plan.network, limits);
    for (const RootEntry& entry : root->entries) {
      if (entry.kind != RootEntry::Kind::directory) continue;
      std::ranges::move(masks_over(root->source + entry.path, entry.path, hiding.own),
                        std::back_inserter(defaults));
    }
  } else {
    defaults = default_view(plan.identity, plan.network, limits);
  }
  auto granted = granted_views(request, hiding.own);
  if (!granted) return std::unexpected(granted.error());
  auto cwd =
      root != nullptr ? cwd_in_root(request) : place_cwd(request, hiding, defaults, *granted);
  if (!cwd) return std::unexpected(cwd.error());
  plan.cwd = std::move(*cwd);
  plan.root = merge_views(std::move(defaults), std::move(*granted));
  auto pins = pinned_views(request, plan.root);
  if (!pins) return std::unexpected(pins.error());
  plan.pins = std::move(*pins);
  if (auto ok = check_write_grants(plan, host); !ok) return std::unexpected(ok.error());
  if (auto ok = add_secrets(request, plan); !ok) return std::unexpected(ok.error());

  plan.enforcement = enforcement_of(plan, host);
  return plan;
}

}  // namespace cordon::plan
