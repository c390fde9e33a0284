// The probe with the control groups that are found here.
#include "backend/linux/cgroup.h"
#include "backend/linux/probe.h"
#include "backend/linux/probe_files.h"

namespace cordon::linux_backend {

plan::HostCapabilities probe_host(const std::string& cgroup_parent, ProbeDepth depth) {
  const auto mountinfo = read_small_file("/proc/self/mountinfo");
  const auto groups = open_cgroup_parent(cgroup_parent, mountinfo);
  if (!groups) return probe_host(nullptr, &groups.error(), depth, mountinfo);
  return probe_host(groups->get(), nullptr, depth, mountinfo);
}

}  // namespace cordon::linux_backend
