#include "backend/gvisor/gvisor_plan.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "backend/linux/caller.h"
#include "backend/linux/identity.h"
#include "backend/linux/inside_environment.h"
#include "backend/linux/real_paths.h"
#include "backend/linux/root_listing.h"
#include "backend/linux/views.h"
#include "backend/posix/lookup.h"
#include "base/errors.h"

namespace cordon::gvisor_backend {
namespace {

using Level = Guarantee::Level;
using plan::View;

std::unexpected<Error> refuse(std::string_view field, std::string_view why) {
  return base::fail(ErrorCode::unsupported, "isolate",
                    "the gvisor backend cannot give " + std::string(field) + ": " +
                        std::string(why) + "; leave it out or use the linux backend");
}

Guarantee sampled(const std::string& what, const plan::Feature& feature, bool asked) {
  if (!asked) return {Level::none, "", "no limit was asked for"};
  return {Level::partial, "sampling the " + what + " of runsc's processes",
          "declared as sampled: a burst between two looks escapes (" + feature.why + ")"};
}

Enforcement enforcement_of(const plan::SandboxPlan& plan, const plan::HostCapabilities& host,
                           const Runsc& runsc) {
  Enforcement kept = plan.enforcement;
  const Limits& limits = plan.limits;
  if (!plan.groups.memory_bytes) {
    kept.memory = {Level::none, "",
                   limits.memory_bytes ? "gVisor has no limit of its own, and there is no control "
                                         "group for it (" +
                                             host.cgroup_memory.why + ")"
                                       : "no limit was asked for"};
  }
  if (!plan.groups.cpu_millicores && !plan.groups.cpu_clock) {
    kept.cpu = sampled("processor time", host.cgroup_cpu, plan.sample_cpu);
    if (limits.cpu_millicores) {
      kept.cpu.note += "; the share of the processors is not enforced";
    }
  }
  if (!plan.groups.processes) {
    kept.processes = sampled("threads", host.cgroup_pids, plan.sample_processes);
  } else {
    kept.processes = {Level::partial, kept.processes.by,
                      "gVisor's own threads are counted too, so more are allowed for; to reach "
                      "the limit ends the run"};
  }
  const std::string gvisor = "gVisor" + (runsc.platform.empty() ? "" : " (" + runsc.platform + ")");
  kept.filesystem = {Level::enforced, gvisor + "'s own file system, which sees only what is shown",
                     ""};
  kept.network = {Level::enforced, gvisor + "'s own network stack, in which there is a loopback",
                  ""};
  kept.syscalls = {Level::enforced, gvisor + ": its kernel serves them, not the host's", ""};
  kept.timeout.by = plan.cgroup == plan::CgroupVersion::none
                        ? "the supervisor's deadline and SIGKILL to runsc and its sandbox"
                        : "the supervisor's deadline and SIGKILL to the control group";
  return kept;
}

Result<void> check_write_grants(const plan::SandboxPlan& plan, const Request& request,
                                const Runsc& runsc) {
  if (runsc.rootless || request.user) return {};
  const auto it = std::ranges::find_if(plan.root, [](const View& view) {
    return view.granted && view.writable && view.kind == View::Kind::bind;
  });
  if (it == plan.root.end()) return {};
  return base::fail(ErrorCode::unsupported, "plan",
                    "grant write of " + it->source +
                        ": gVisor shows files with the ids they have on the host, so a root "
                        "caller's cannot be written by a program that is not root: choose a user "
                        "that owns the directory by --user");
}

}  // namespace

Result<void> check_request(const Request& request) {
  if (request.network == Network::host) return refuse("the host's network", "it has its own");
  if (!request.unix_sockets) return refuse("unix_sockets = false", "it serves them itself");
  if (request.explain) return refuse("explain", "gVisor does not tell what it refused");
  if (request.reuse) return refuse("reuse", "it has no pool");
  if (!request.pins.empty()) {
    return refuse("pins", "runsc opens files by name, after they were checked");
  }
  if (!request.secrets.empty()) {
    return refuse("secrets", "runsc takes them only in a file on the disk");
  }
  if (!request.argv0.empty() && request.argv0 != request.program) {
    return refuse("argv0", "runsc executes what the program is told as its name");
  }
  if (request.terminal) return refuse("a terminal", "it runs programs with pipes only");
  return {};
}

plan::HostCapabilities host_of(const linux_backend::CgroupParent* groups, const std::string& why) {
  const plan::Feature works{.works = true};
  plan::HostCapabilities host{.privileged = ::geteuid() == 0,
                              .user_namespace = works,
                              .mount_namespace = works,
                              .pid_namespace = works,
                              .network_namespace = works,
                              .proc_mount = works,
                              .seccomp = works};
  host.idmapped_mounts.works = true;  // check_write_grants() has the last word
  if (groups == nullptr) {
    host.cgroup_memory.why = host.cgroup_pids.why = host.cgroup_cpu.why = why;
    return host;
  }
  host.cgroup = groups->version();
  host.cgroup_parent = groups->path();
  host.cgroup_memory = groups->memory();
  host.cgroup_pids = groups->pids();
  host.cgroup_cpu = groups->cpu();
  host.swap_limited = groups->swap_limited();
  return host;
}

Result<plan::SandboxPlan> make_plan(const Request& request, const Limits& limits,
                                    const plan::HostCapabilities& host, const Runsc& runsc) {
  if (auto ok = check_request(request); !ok) return std::unexpected(std::move(ok.error()));
  Request real = linux_backend::with_real_paths(request);
  // Ids inside are ids of files outside: nobody's.
  if (!runsc.rootless && !real.user) {
    real.user = User{linux_backend::kFirstRunId, linux_backend::kFirstRunId};
  }
  plan::RootDirectory root;
  if (!real.root.empty()) {
    auto listed = linux_backend::list_root(real);
    if (!listed) return std::unexpected(std::move(listed.error()));
    root = *std::move(listed);
  }
  auto made = plan::make_sandbox_plan(real, limits, linux_backend::caller_now(), host,
                                      real.root.empty() ? nullptr : &root);
  if (!made) return made;
  if (auto ok = check_write_grants(*made, request, runsc); !ok) {
    return std::unexpected(std::move(ok.error()));
  }
  made->rlimit_processes.reset();
  made->sample_memory = false;  // what runsc's processes share cannot be told apart from outside
  made->sample_processes = limits.processes && !made->groups.processes;
  if (limits.processes && made->groups.processes) {
    made->groups.processes = threads_for(*limits.processes);
  }
  made->enforcement = enforcement_of(*made, host, runsc);
  return made;
}

Plan describe(const plan::SandboxPlan& plan, const Runsc& runsc) {
  Plan out = plan::describe(plan);
  out.backend = "gvisor";
  constexpr std::string_view kNotHere[] = {"namespace", "landlock", "seccomp", "verify", "network"};
  std::erase_if(out.steps, [&](const PlanStep& step) {
    return std::ranges::find(kNotHere, step.name) != std::end(kNotHere) ||
           (step.name == "mount" && step.detail.ends_with(", device"));
  });
  out.steps.insert(out.steps.begin(),
                   {"gvisor", "runsc " + runsc.version +
                                  (runsc.platform.empty() ? "" : ", platform " + runsc.platform) +
                                  (runsc.rootless ? ", rootless" : "")});
  out.steps.insert(out.steps.end() - 1, {"network", "gVisor's own, with a loopback"});
  out.steps.insert(out.steps.end() - 1,
                   {"verify", "that runsc's processes are in the group, from outside"});
  return out;
}

User user_inside(const plan::SandboxPlan& plan, const Runsc& runsc) {
  // To an ordinary user's runsc, the caller's files are root's.
  if (runsc.rootless) return {0, 0};
  return {plan.identity.uid, plan.identity.gid};
}

Result<Bundle> make_bundle(const plan::SandboxPlan& plan, const Request& request,
                           const Runsc& runsc) {
  auto opened = linux_backend::open_views(plan.root);
  if (!opened) return std::unexpected(std::move(opened.error()));
  Bundle bundle;
  for (linux_backend::OpenView& open : *opened) {
    const bool directory = open.view.kind != View::Kind::bind || open.directory;
    auto source = open.source ? std::make_shared<const base::Fd>(std::move(open.source)) : nullptr;
    bundle.views.push_back({std::move(open.view), directory, std::move(source)});
  }
  if (auto ok = check_places(bundle.views); !ok) return std::unexpected(std::move(ok.error()));
  bundle.pinned = runsc.pins;
  bundle.filter = runsc.filters;
  bundle.process = {.argv = {request.program},
                    .environment = linux_backend::inside_environment(
                        posix::environment_for(request), request, plan),
                    .cwd = plan.cwd,
                    .user = user_inside(plan, runsc),
                    .limits = plan.limits,
                    .terminal = false};
  auto& argv = bundle.process.argv;
  argv.insert(argv.end(), request.args.begin(), request.args.end());
  return bundle;
}

}  // namespace cordon::gvisor_backend
