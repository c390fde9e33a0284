// A plan as lines to be read, in the order in which a sandbox is made.
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "plan/sandbox_plan.h"

namespace cordon::plan {
namespace {

using Kind = View::Kind;

// As `--memory` takes it: "512M".
std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits = "KMGT";
  std::string unit;
  for (const char name : kUnits) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = name;
  }
  return std::to_string(bytes) + unit;
}

std::string namespaces(const SandboxPlan& plan) {
  std::string text = "user, mount, pid, ipc, uts, cgroup";
  return plan.network == Network::host ? text : text + ", network";
}

std::string network(Network network) {
  switch (network) {
    case Network::none:
      return "none: no interface is up";
    case Network::loopback:
      return "a loopback of its own";
    case Network::host:
      return "the caller's";
  }
  return "unknown";
}

std::string identity(const Identity& who) {
  std::string text =
      "uid " + std::to_string(who.uid) + ", gid " + std::to_string(who.gid) + " inside; outside ";
  if (!who.host) return text + "an unprivileged uid of its own";
  return text + "uid " + std::to_string(who.host->uid) + ", gid " + std::to_string(who.host->gid);
}

std::string access(const View& view) {
  std::string text = view.writable ? ", writable" : ", read-only";
  if (view.granted) text += ", granted";
  if (view.optional) text += ", if present";
  return text;
}

std::string mount(const View& view) {
  switch (view.kind) {
    case Kind::bind:
      return view.target + (view.source == view.target ? "" : " from " + view.source) +
             access(view);
    case Kind::device:
      return view.target + ", device";
    case Kind::tmpfs:
      return view.target + ", tmpfs of " + size_text(view.size) + access(view);
    case Kind::secrets:
      return view.target + ", secrets in memory, read-only";
    case Kind::file:
      return view.target + ", made for the sandbox, read-only";
    case Kind::symlink:
      return view.target + ", symlink to " + view.content;
    case Kind::proc:
      return view.target + ", the sandbox's processes";
    case Kind::devpts:
      return view.target + ", terminals of its own";
  }
  return view.target;
}

void add_groups(const SandboxPlan& plan, std::vector<PlanStep>& steps) {
  if (plan.cgroup == CgroupVersion::none) return;
  const bool v1 = plan.cgroup == CgroupVersion::v1;
  const auto add = [&](std::string detail) { steps.push_back({"group", std::move(detail)}); };
  add(std::string(v1 ? "cgroup v1" : "cgroup v2") + ", below " +
      (plan.cgroup_parent.empty() ? "the caller's" : plan.cgroup_parent));
  const GroupLimits& groups = plan.groups;
  if (groups.memory_bytes) {
    add((v1 ? "memory.limit_in_bytes " : "memory.max ") + std::to_string(*groups.memory_bytes));
  }
  if (groups.processes) add("pids.max " + std::to_string(*groups.processes));
  if (groups.cpu_millicores) {
    // Microseconds of processor time in each period of 100 ms.
    const std::string quota = std::to_string(std::uint64_t{*groups.cpu_millicores} * 100);
    add(v1 ? "cpu.cfs_quota_us " + quota : "cpu.max " + quota + " 100000");
  }
  if (groups.cpu_clock) add("processor time read from the group");
}

void add_limits(const SandboxPlan& plan, std::vector<PlanStep>& steps) {
  const Limits& limits = plan.limits;
  const auto add = [&](std::string detail) { steps.push_back({"limit", std::move(detail)}); };
  if (limits.open_files) add("open files " + std::to_string(*limits.open_files));
  if (limits.file_size_bytes) add("file size " + size_text(*limits.file_size_bytes));
  if (plan.rlimit_processes) add("processes " + std::to_string(*plan.rlimit_processes));
  if (limits.cpu_time) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(*limits.cpu_time).count();
    add("processor time " + std::to_string(ms) + "ms" + (plan.sample_cpu ? ", sampled" : ""));
  }
  if (plan.sample_memory) add("memory " + size_text(*limits.memory_bytes) + ", sampled");
  if (plan.sample_processes) add("processes " + std::to_string(*limits.processes) + ", sampled");
  if (limits.output_bytes) add("output " + size_text(*limits.output_bytes));
  add("core dumps 0");
}

}  // namespace

Plan describe(const SandboxPlan& plan) {
  Plan out{.backend = "linux", .steps = {}, .enforcement = plan.enforcement};
  const auto add = [&](std::string name, std::string detail) {
    out.steps.push_back({std::move(name), std::move(detail)});
  };
  add("namespace", namespaces(plan));
  add("identity", identity(plan.identity));
  add("network", network(plan.network));
  add_groups(plan, out.steps);
  add("mount", "/, empty, read-only");
  if (!plan.rootfs.empty()) add("root", plan.rootfs + ", read-only, in place of the host's system");
  for (const View& view : plan.root) add("mount", mount(view));
  for (const View& pin : plan.pins) add("pin", pin.target + ", the file that was checked");
  for (const std::string& secret : plan.secrets) add("secret", secret);
  add("cwd", plan.cwd);
  add_limits(plan, out.steps);
  add("capabilities", "none");
  add("no_new_privs", "set");
  add("landlock", plan.landlock_abi > 0
                      ? "ABI " + std::to_string(plan.landlock_abi) + ", every right it has"
                      : "not there");
  add("seccomp", plan.unix_sockets ? "allowlist" : "allowlist, of unix sockets only socketpair");
  if (plan.explain) add("observe", "what is refused, by seccomp notification");
  add("verify", "all of this, from outside");
  add("execute", "the program");
  return out;
}

}  // namespace cordon::plan
