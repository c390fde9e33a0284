// Where the control group hierarchies are mounted, and which group a process is in: what
// /proc/self/mountinfo and /proc/PID/cgroup say. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::linux_backend {

struct CgroupMount {
  bool v2 = false;
  bool read_only = false;
  std::string root;   // the group that the mount shows as its top; "/" unless in a container
  std::string point;  // where
  std::vector<std::string> controllers;  // v1 only
};

[[nodiscard]] std::vector<CgroupMount> parse_mountinfo(std::string_view text);

// The path of the group in the hierarchy of `controller` ("" for v2).
[[nodiscard]] std::optional<std::string_view> group_of(std::string_view proc_pid_cgroup,
                                                       std::string_view controller);

// `group` as seen below a mount of `root`: "" for the root itself, else without a leading slash.
// Empty: it is outside.
[[nodiscard]] std::optional<std::string> below(std::string_view root, std::string_view group);
// The opposite: the group's path as /proc/PID/cgroup names it.
[[nodiscard]] std::string full_path(std::string_view root, std::string_view relative);

// The mount to use for a group of this hierarchy ("" for v2): one that shows the group and is
// writable, else one that shows it, else any of the hierarchy.
[[nodiscard]] const CgroupMount* mount_for(const std::vector<CgroupMount>& mounts,
                                           std::string_view controller, std::string_view group);

}  // namespace cordon::linux_backend
