#include "backend/linux/probe.h"

#include <sys/utsname.h>

#include "backend/linux/probe_container.h"
#include "backend/linux/probe_namespaces.h"
#include "backend/linux/probe_security.h"

namespace cordon::linux_backend {
namespace {

void take_groups(const CgroupParent* groups, const Error* why_no_groups,
                 plan::HostCapabilities& host) {
  if (groups != nullptr) {
    host.cgroup = groups->version();
    host.cgroup_parent = groups->path();
    host.cgroup_memory = groups->memory();
    host.cgroup_pids = groups->pids();
    host.cgroup_cpu = groups->cpu();
    host.swap_limited = groups->swap_limited();
    return;
  }
  const plan::Feature none{
      false, why_no_groups != nullptr ? why_no_groups->message : "control groups are not used", ""};
  host.cgroup_memory = none;
  host.cgroup_pids = none;
  host.cgroup_cpu = none;
}

}  // namespace

plan::HostCapabilities probe_host(const CgroupParent* groups, const Error* why_no_groups,
                                  ProbeDepth depth, const std::optional<std::string>& mountinfo) {
  plan::HostCapabilities host;
  utsname names{};
  if (::uname(&names) == 0) host.kernel = names.release;
  if (depth == ProbeDepth::thorough) {  // else it is looked for where it explains something
    host.container_kind = container_kind(find_container_traces());
    host.container = !host.container_kind.empty();
  }
  host.privileged = probe_privileged();
  probe_namespaces(depth, mountinfo, host);
  host.idmapped_mounts = probe_idmapped_mounts(host.privileged);
  probe_landlock(host);
  host.seccomp = probe_seccomp();
  take_groups(groups, why_no_groups, host);
  return host;
}

}  // namespace cordon::linux_backend
