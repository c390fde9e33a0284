// Control groups v1: a hierarchy for each controller, or for a few together.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/linux/cgroup.h"
#include "backend/linux/cgroup_table.h"

namespace cordon::linux_backend {

// As open_cgroup_parent(), given what /proc/self/mountinfo and /proc/self/cgroup say. `name` is
// normalized: "a/b" or "".
[[nodiscard]] Result<std::unique_ptr<CgroupParent>> open_cgroup_v1(
    const std::vector<CgroupMount>& mounts, std::string_view own, const std::string& name);

}  // namespace cordon::linux_backend
