// The probe with the control groups that are found here.
#include "backend/linux/cgroup.h"
#include "backend/linux/probe.h"

namespace cordon::linux_backend {

plan::HostCapabilities probe_host(const std::string& cgroup_parent, ProbeDepth depth) {
  const auto groups = open_cgroup_parent(cgroup_parent);
  if (!groups) return probe_host(nullptr, &groups.error(), depth);
  return probe_host(groups->get(), nullptr, depth);
}

}  // namespace cordon::linux_backend
