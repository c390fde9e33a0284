#include "backend/linux/probe_namespaces.h"

#include <unistd.h>

#include "backend/linux/probe_container.h"
#include "backend/linux/probe_files.h"

namespace cordon::linux_backend {
namespace {

NamespaceFacts gather(const std::optional<std::string>& mountinfo) {
  return {
      .max_user_namespaces = read_number("/proc/sys/user/max_user_namespaces"),
      .max_mnt_namespaces = read_number("/proc/sys/user/max_mnt_namespaces"),
      .max_pid_namespaces = read_number("/proc/sys/user/max_pid_namespaces"),
      .max_net_namespaces = read_number("/proc/sys/user/max_net_namespaces"),
      .unprivileged_userns_clone = read_number("/proc/sys/kernel/unprivileged_userns_clone"),
      .apparmor_restrict = read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
      .container = container_kind(find_container_traces()),
      .masks_of_proc = mounts_below_proc(mountinfo.value_or("")),
  };
}

// All at once failed: one after the other tells which of them it was.
void probe_one_by_one(const NamespaceFacts& facts, bool map_self, plan::HostCapabilities& host) {
  const NamespaceTrial user = try_namespaces({.mount = false, .pid = false, .map_self = map_self});
  plan::HostCapabilities part;
  judge_namespaces(user, facts, part);
  host.user_namespace = part.user_namespace;
  if (!host.user_namespace.works) {
    const plan::Feature without{false, "needs a user namespace", ""};
    host.mount_namespace = without;
    host.pid_namespace = without;
    host.network_namespace = without;
    host.proc_mount = without;
    return;
  }
  judge_namespaces(try_namespaces({.mount = true, .pid = false, .map_self = map_self}), facts,
                   part);
  host.mount_namespace = part.mount_namespace;
  judge_namespaces(try_namespaces({.mount = false, .pid = true, .map_self = map_self}), facts,
                   part);
  host.pid_namespace = part.pid_namespace;
  judge_namespaces(
      try_namespaces({.mount = false, .pid = false, .network = true, .map_self = map_self}), facts,
      part);
  host.network_namespace = part.network_namespace;
  host.proc_mount = {false, "needs a mount and a pid namespace", ""};
}

// What is left to go wrong with mounts and the network, where capabilities inside work.
bool nothing_in_the_way(const std::optional<std::string>& mountinfo) {
  // Of a list that was cut, the end may hold anything.
  if (!mountinfo || mountinfo->size() >= kMostOfFile) return false;
  if (!mounts_below_proc(*mountinfo).empty()) return false;
  return ::access("/proc/self/ns/net", F_OK) == 0 &&
         read_number("/proc/sys/user/max_mnt_namespaces") != 0 &&
         read_number("/proc/sys/user/max_net_namespaces") != 0;
}

// Whether a user and a pid namespace can be made, with capabilities inside. What restricts others
// does not concern a privileged caller; should anything else be in its way, its first sandbox fails
// at that step.
bool has_user_namespaces(const plan::HostCapabilities& host) {
  if (host.privileged) {
    return ::access("/proc/self/ns/user", F_OK) == 0 && ::access("/proc/self/ns/pid", F_OK) == 0 &&
           read_number("/proc/sys/user/max_user_namespaces") != 0 &&
           read_number("/proc/sys/user/max_pid_namespaces") != 0;
  }
  return try_namespaces({.mount = false, .capability = true, .map_self = !host.privileged})
      .all_worked();
}

}  // namespace

void probe_namespaces(ProbeDepth depth, const std::optional<std::string>& mountinfo,
                      plan::HostCapabilities& host) {
  if (depth == ProbeDepth::quick && nothing_in_the_way(mountinfo) && has_user_namespaces(host)) {
    judge_namespaces({}, {}, host);
    return;
  }
  // A privileged caller's sandbox gets its ids from outside.
  const bool map_self = !host.privileged;
  const NamespaceTrial trial = try_namespaces({.network = true, .map_self = map_self});
  const NamespaceFacts facts = trial.all_worked() ? NamespaceFacts{} : gather(mountinfo);
  if (trial.clone != 0) {
    probe_one_by_one(facts, map_self, host);
  } else {
    judge_namespaces(trial, facts, host);
  }
}

}  // namespace cordon::linux_backend
