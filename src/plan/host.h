// What this host can do for a sandbox: facts, probed by the linux backend, judged by the plan.
// Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace cordon::plan {

// Whether something works here; if not, why, and what an administrator can do about it.
struct Feature {
  bool works = false;
  std::string why{};
  std::string fix{};
};

enum class CgroupVersion : std::uint8_t { none, v1, v2 };

struct HostCapabilities {
  std::string kernel{};          // as uname -r
  bool privileged = false;       // the caller may map any id into a user namespace
  bool container = false;        // this process is in a container
  std::string container_kind{};  // "docker", "podman", "kubernetes", "lxc" or "unknown"

  Feature user_namespace{};
  Feature mount_namespace{};  // and with it the file system view
  Feature pid_namespace{};
  Feature network_namespace{};
  Feature proc_mount{};       // a /proc of the sandbox's own
  Feature idmapped_mounts{};  // write grants of a privileged caller

  int landlock_abi = 0;  // 0: none
  std::string landlock_why{};
  Feature seccomp{};

  CgroupVersion cgroup = CgroupVersion::none;
  std::string cgroup_parent{};  // where groups would be made; v1: in the memory hierarchy
  Feature cgroup_memory{};
  Feature cgroup_pids{};
  Feature cgroup_cpu{};
  bool swap_limited = false;  // the memory limit includes swap, or there is none
};

}  // namespace cordon::plan
