// Control groups v2: one hierarchy for all controllers.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backend/linux/cgroup.h"
#include "backend/linux/cgroup_table.h"

namespace cordon::linux_backend {

// As open_cgroup_parent(), on the hierarchy mounted at `mount`; `own` is the caller's group in it.
// `name` is normalized: "a/b" or "".
[[nodiscard]] Result<std::unique_ptr<CgroupParent>> open_cgroup_v2(const CgroupMount& mount,
                                                                   std::string_view own,
                                                                   const std::string& name);

}  // namespace cordon::linux_backend
