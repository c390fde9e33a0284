#include "backend/linux/inside_request.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "plan/guarantees.h"

namespace cordon::linux_backend {
namespace {

std::unexpected<Error> more(std::string_view field, const std::string& what) {
  return base::fail(
      ErrorCode::not_permitted, "plan",
      std::string(field) + ": " + what +
          "; a program inside may ask for less than its sandbox has, not for more: create the "
          "sandbox with it");
}

template <typename T>
bool exceeds(const std::optional<T>& asked, const std::optional<T>& most) {
  return most && (!asked || *asked > *most);
}

Result<void> check_limits(const Limits& asked, const Limits& most) {
  const std::pair<std::string_view, bool> each[] = {
      {"limits.cpu_time", exceeds(asked.cpu_time, most.cpu_time)},
      {"limits.cpu_millicores", exceeds(asked.cpu_millicores, most.cpu_millicores)},
      {"limits.memory_bytes", exceeds(asked.memory_bytes, most.memory_bytes)},
      {"limits.file_size_bytes", exceeds(asked.file_size_bytes, most.file_size_bytes)},
      {"limits.open_files", exceeds(asked.open_files, most.open_files)},
      {"limits.processes", exceeds(asked.processes, most.processes)},
      {"limits.output_bytes", exceeds(asked.output_bytes, most.output_bytes)},
  };
  for (const auto& [name, too_much] : each) {
    if (too_much) return more(name, "is above the sandbox's");
  }
  return {};
}

}  // namespace

Result<void> check_main(const Request& request) {
  if (request.explain) {
    return base::fail(ErrorCode::unsupported, "plan",
                      "explain: what programs of a long-lived sandbox are refused cannot be told");
  }
  if (request.reuse) {
    return base::fail(ErrorCode::unsupported, "plan",
                      "reuse: a long-lived sandbox leaves nothing to others");
  }
  return {};
}

Result<void> check_inside(const Request& request, const Limits& limits, const Request& main) {
  if (auto ok = check_main(request); !ok) return ok;
  if (!request.root.empty() && request.root != main.root) {
    return more("root", request.root + " is not the sandbox's root");
  }
  for (const Grant& grant : request.grants) {
    if (std::ranges::find(main.grants, grant) != main.grants.end()) continue;
    return more("grants", (grant.source.empty() ? grant.target : grant.source) +
                              " is not granted to the sandbox");
  }
  if (request.network != Network::none && request.network != main.network) {
    return more("network", "is not the sandbox's");
  }
  if (request.user && request.user != main.user) return more("user", "is not the sandbox's");
  for (const std::string& name : request.env_pass) {
    if (std::ranges::find(main.env_pass, name) != main.env_pass.end()) continue;
    return more("env_pass", name + " is not passed to the sandbox");
  }
  if (!request.cgroup_parent.empty() && request.cgroup_parent != main.cgroup_parent) {
    return more("cgroup_parent", "is not the sandbox's");
  }
  if (!request.pins.empty()) return more("pins", "files are pinned for a whole sandbox");
  if (std::ranges::find(request.secrets, Secret::Delivery::file, &Secret::delivery) !=
      request.secrets.end()) {
    return more("secrets", "files with secrets are those of the sandbox");
  }
  return check_limits(limits, main.limits);
}

Result<SharedPlan> plan_inside(const plan::SandboxPlan& whole, const Request& request,
                               const Limits& limits, bool is_main,
                               const plan::HostCapabilities& host) {
  auto plan = std::make_shared<plan::SandboxPlan>(whole);
  if (!is_main && !request.cwd.empty()) {
    if (!request.cwd.starts_with('/')) {
      return base::fail(ErrorCode::invalid_argument, "plan",
                        "the working directory " + request.cwd +
                            " is a path inside the sandbox, so it must begin with /");
    }
    plan->cwd = request.cwd;
  }
  plan->unix_sockets = whole.unix_sockets && request.unix_sockets;
  plan->limits = limits;
  plan->groups = {};
  plan->cgroup = plan::CgroupVersion::none;
  plan->rlimit_processes.reset();
  plan::share_out_limits(*plan, host);
  // The sandbox's init is in another group.
  if (plan->groups.processes) --*plan->groups.processes;
  plan->enforcement = plan::enforcement_of(*plan, host);
  plan->enforcement.timeout.by = "the supervisor's deadline and SIGKILL to the control group";
  return plan;
}

}  // namespace cordon::linux_backend
