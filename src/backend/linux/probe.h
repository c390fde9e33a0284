// What this host can do for a sandbox, found out by trying it: versions and configuration files
// tell little about kernels with patches, containers and security modules.
//
// Reads a few files and may start children that share our memory and exit at once; nothing stays
// behind. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/linux/cgroup.h"
#include "cordon/error.h"
#include "plan/host.h"

namespace cordon::linux_backend {

enum class ProbeDepth : std::uint8_t {
  quick,     // what works nearly always is inferred, unless something looks unusual
  thorough,  // everything is tried
};

// `groups` is the place for control groups, or null: then `why_no_groups` says why.
// `mountinfo` is what /proc/self/mountinfo says.
[[nodiscard]] plan::HostCapabilities probe_host(const CgroupParent* groups,
                                                const Error* why_no_groups, ProbeDepth depth,
                                                const std::optional<std::string>& mountinfo);
// The same with the place that open_cgroup_parent() finds for this name.
[[nodiscard]] plan::HostCapabilities probe_host(const std::string& cgroup_parent, ProbeDepth depth);

}  // namespace cordon::linux_backend
