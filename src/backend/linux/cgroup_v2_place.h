// Where the groups of cgroup v2 can be made.
//
// A group of v2 either holds processes or hands controllers on to groups below it. The caller's own
// group holds the caller, so `cordon` goes below it only where it is the top of the hierarchy or
// the controllers are handed on already; else beside it, if it has no limit that this would escape.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "backend/linux/cgroup_file.h"
#include "backend/linux/cgroup_table.h"
#include "plan/host.h"

namespace cordon::linux_backend {

inline constexpr std::array<const char*, 3> kV2Controllers{"memory", "pids", "cpu"};

struct V2Place {
  CgroupDir parent{};   // the groups are made below it
  std::string group{};  // the parent, as /proc/PID/cgroup names it
  std::array<plan::Feature, kV2Controllers.size()> features{};
};

// `own` is the caller's group as in /proc/self/cgroup, `name` as in open_cgroup_v2. Error:
// unsupported, if no controller can be used. Makes the parent and enables controllers for it.
[[nodiscard]] Result<V2Place> find_v2_place(const CgroupMount& mount, std::string_view own,
                                            const std::string& name);

}  // namespace cordon::linux_backend
