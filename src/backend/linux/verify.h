// Looks at a parked sandbox from outside: what was asked for is what the kernel says (C42).
//
// The parsing is pure, over the texts of /proc. Landlock shows in none of them.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/posix/child_side.h"
#include "cordon/error.h"

namespace cordon::linux_backend {

// Of /proc/PID/status. Error: what does not hold.
struct ExpectedStatus {
  std::uint32_t uid = 0;  // as the supervisor sees them
  std::uint32_t gid = 0;
  bool no_groups = true;  // an ordinary caller cannot drop its supplementary groups
  int seccomp_filters = 0;
};
[[nodiscard]] Result<void> check_status(std::string_view text, const ExpectedStatus& expected);

// Of /proc/PID/mountinfo: exactly these mount points (and what the host has mounted below a
// granted directory), none but the writable ones writable, all nosuid.
struct ExpectedMount {
  std::string target;
  bool writable = false;
  bool bind = false;
};
[[nodiscard]] Result<void> check_mounts(std::string_view text,
                                        const std::vector<ExpectedMount>& expected);

// Inodes of the namespaces of a process, in the order of verify_process.cc.
using NamespaceIds = std::array<ino_t, 7>;
// Of the calling thread. 0: not to be found out.
[[nodiscard]] NamespaceIds own_namespaces();

struct Expected {
  ExpectedStatus status;
  std::vector<ExpectedMount> mounts;
  NamespaceIds outside{};  // that it must have left
  bool own_network = true;
};
// All of it for process `pid`. `cgroup` receives the text of its /proc/PID/cgroup.
[[nodiscard]] Result<void> verify_process(pid_t pid, const Expected& expected, std::string& cgroup);
// For a process that another one, verified as above, has made: its status, and that it is in the
// namespaces of that one.
[[nodiscard]] Result<void> verify_hatched(pid_t pid, const ExpectedStatus& expected,
                                          const NamespaceIds& namespaces, std::string& cgroup);
// 0: not to be found out.
[[nodiscard]] NamespaceIds namespaces_of(pid_t pid);
[[nodiscard]] Result<void> verify_limits(pid_t pid,
                                         const std::vector<posix::RlimitSetting>& expected);

}  // namespace cordon::linux_backend
