// Hosts and callers for the tests of this folder.
#pragma once

#include <string>

#include "plan/sandbox_plan.h"

namespace cordon::plan::testing {

inline Feature works() { return {.works = true}; }

// An ordinary user's machine with no group to use.
inline HostCapabilities user_host() {
  return {.kernel = "6.18.44",
          .user_namespace = works(),
          .mount_namespace = works(),
          .pid_namespace = works(),
          .network_namespace = works(),
          .proc_mount = works(),
          .landlock_abi = 7,
          .seccomp = works(),
          .cgroup_memory = {.why = "no group is delegated to this user"},
          .cgroup_pids = {.why = "no group is delegated to this user"},
          .cgroup_cpu = {.why = "no group is delegated to this user"}};
}

inline HostCapabilities with_groups(HostCapabilities host, CgroupVersion version) {
  host.cgroup = version;
  host.cgroup_parent = "/cordon";
  host.cgroup_memory = host.cgroup_pids = host.cgroup_cpu = works();
  host.swap_limited = true;
  return host;
}

inline HostCapabilities root_host() {
  HostCapabilities host = with_groups(user_host(), CgroupVersion::v1);
  host.privileged = true;
  host.idmapped_mounts = works();
  return host;
}

// Root without capabilities in a container.
inline HostCapabilities container_host() {
  HostCapabilities host = user_host();
  host.container = true;
  host.container_kind = "docker";
  host.landlock_abi = 0;
  host.landlock_why = "the container's filter refuses it";
  return host;
}

inline Caller user() { return {1001, 1002, "/home/ann/work", "/home/ann"}; }
inline Caller root() { return {0, 0, "/srv/work", "/root"}; }

inline Request request(std::vector<Grant> grants = {}) {
  Request r;
  r.program = "true";
  r.grants = std::move(grants);
  return r;
}

inline Limits usual_limits() {
  return {.cpu_millicores = 1000,
          .memory_bytes = std::uint64_t{512} * 1024 * 1024,
          .open_files = 1024,
          .processes = 128};
}

}  // namespace cordon::plan::testing
