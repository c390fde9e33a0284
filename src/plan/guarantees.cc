#include "plan/guarantees.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace cordon::plan {
namespace {

using Level = Guarantee::Level;

constexpr const char* kNotAsked = "no limit was asked for";

std::string group_file(CgroupVersion version, std::string_view v1, std::string_view v2) {
  return version == CgroupVersion::v1 ? "cgroup v1 " + std::string(v1)
                                      : "cgroup v2 " + std::string(v2);
}

std::string without_group(const HostCapabilities& host, const Feature& feature) {
  if (!feature.why.empty()) return feature.why;
  return host.cgroup == CgroupVersion::none ? "there are no control groups here"
                                            : "this controller is not there";
}

Guarantee sampled(std::string by, const HostCapabilities& host, const Feature& feature) {
  return {Level::partial, std::move(by),
          "declared as sampled: a burst between two looks escapes (" +
              without_group(host, feature) + ")"};
}

Guarantee memory(const SandboxPlan& plan, const HostCapabilities& host) {
  if (!plan.limits.memory_bytes) return {Level::none, "", kNotAsked};
  if (plan.sample_memory) {
    Guarantee kept =
        sampled("sampling the tree's memory and RLIMIT_DATA", host, host.cgroup_memory);
    kept.note += "; files in memory that are not mapped are not counted";
    return kept;
  }
  std::string by = group_file(plan.cgroup, "memory.limit_in_bytes", "memory.max");
  if (host.swap_limited) return {Level::enforced, std::move(by), ""};
  return {Level::partial, std::move(by), "what is swapped out is not counted"};
}

Guarantee cpu(const SandboxPlan& plan, const HostCapabilities& host) {
  const bool time = plan.limits.cpu_time.has_value();
  const bool share = plan.limits.cpu_millicores.has_value();
  if (!time && !share) return {Level::none, "", kNotAsked};
  if (plan.groups.cpu_clock || plan.groups.cpu_millicores) {
    const std::string quota = group_file(plan.cgroup, "cpu.cfs_quota_us", "cpu.max");
    const std::string clock = "the group's processor clock";
    std::string by = share ? quota : clock;
    if (time && share) by += " and " + clock;
    return {Level::enforced, std::move(by), ""};
  }
  if (!time) return {Level::none, "", without_group(host, host.cgroup_cpu)};
  Guarantee kept =
      sampled("sampling the tree's processor time and RLIMIT_CPU", host, host.cgroup_cpu);
  if (share) kept.note += "; the share of the processors is not enforced";
  return kept;
}

Guarantee processes(const SandboxPlan& plan, const HostCapabilities& host) {
  if (!plan.limits.processes) return {Level::none, "", kNotAsked};
  if (plan.groups.processes) {
    return {Level::enforced, group_file(plan.cgroup, "pids.max", "pids.max"), ""};
  }
  if (plan.rlimit_processes) {
    return {Level::enforced,
            plan.identity.host ? "RLIMIT_NPROC in a user namespace of its own"
                               : "RLIMIT_NPROC of a user id of its own",
            ""};
  }
  return sampled("sampling the tree's processes", host, host.cgroup_pids);
}

Guarantee filesystem(const SandboxPlan& plan, const HostCapabilities& host) {
  Guarantee kept{Level::enforced, "mount namespace", ""};
  if (plan.landlock_abi > 0) {
    kept.by += " and Landlock ABI " + std::to_string(plan.landlock_abi);
  } else {
    kept.note = "no Landlock behind it";
    if (!host.landlock_why.empty()) kept.note += " (" + host.landlock_why + ")";
  }
  constexpr int kLandlockRefusesUnixConnect = 9;
  const bool shows_host = std::ranges::any_of(
      plan.root, [](const View& view) { return view.granted && view.kind == View::Kind::bind; });
  if (plan.unix_sockets && plan.landlock_abi < kLandlockRefusesUnixConnect && shows_host) {
    if (!kept.note.empty()) kept.note += "; ";
    kept.note += "a unix socket below a grant can be connected to; --no-unix stops that";
  }
  return kept;
}

Guarantee network(const SandboxPlan& plan) {
  if (plan.network == Network::host) return {Level::none, "", "--net host was asked for"};
  return {Level::enforced, "network namespace and seccomp", ""};
}

}  // namespace

void share_out_limits(SandboxPlan& plan, const HostCapabilities& host) {
  const Limits& limits = plan.limits;
  const bool any = host.cgroup != CgroupVersion::none;
  if (any && host.cgroup_memory.works) plan.groups.memory_bytes = limits.memory_bytes;
  if (any && host.cgroup_pids.works && limits.processes) {
    plan.groups.processes = *limits.processes + 1;  // the sandbox's init
  }
  if (any && host.cgroup_cpu.works) {
    plan.groups.cpu_millicores = limits.cpu_millicores;
    plan.groups.cpu_clock = limits.cpu_time.has_value();
  }
  const GroupLimits none;
  if (plan.groups != none) plan.cgroup = host.cgroup;

  plan.sample_memory = limits.memory_bytes && !plan.groups.memory_bytes;
  plan.sample_cpu = limits.cpu_time && !plan.groups.cpu_clock;
  if (limits.processes && !plan.groups.processes) {
    // Before 5.14 the kernel counts everything that runs under this id on the host; and it never
    // counts for root, which is what root without capabilities in a container may be.
    const auto& ids = plan.identity.host;
    const bool counts = !ids || (ids->uid != 0 && kernel_at_least(host.kernel, 5, 14));
    if (counts) plan.rlimit_processes = *limits.processes + 1;
    plan.sample_processes = !counts;
  }
}

Enforcement enforcement_of(const SandboxPlan& plan, const HostCapabilities& host) {
  return {
      .memory = memory(plan, host),
      .cpu = cpu(plan, host),
      .processes = processes(plan, host),
      .filesystem = filesystem(plan, host),
      .network = network(plan),
      .syscalls = {Level::enforced, "seccomp allowlist", ""},
      .capabilities = {Level::enforced, "empty capability sets, no_new_privs", ""},
      .timeout = {Level::enforced, "the supervisor's deadline and SIGKILL to the pid namespace",
                  ""},
  };
}

bool kernel_at_least(std::string_view kernel, int major, int minor) {
  const char* const begin = kernel.data();
  const char* const end = begin + kernel.size();
  int first = 0;
  int second = 0;
  const auto dot = std::from_chars(begin, end, first);
  if (dot.ec != std::errc{} || dot.ptr == end || *dot.ptr != '.') return false;
  if (std::from_chars(dot.ptr + 1, end, second).ec != std::errc{}) return false;
  return std::pair(first, second) >= std::pair(major, minor);
}

}  // namespace cordon::plan
