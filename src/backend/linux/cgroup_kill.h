// Ending what runs in a group, and removing groups. Every wait is bounded. Thread-safe.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "backend/linux/cgroup_names.h"

namespace cordon::linux_backend {

// SIGKILL to each process in the group `name` of `dir` and in the groups below it, until none is
// left: returns true then, or false after about 100 ms. Never signals a process outside.
bool kill_group(int dir, const std::string& name);

// For groups that are about to be killed, in each hierarchy before the first kill: forks inside
// fail from now on, for a fork bomb could outrun us; and the processor time is no longer limited,
// for a process needs some to end.
void prepare_kill(int dir, const std::string& name);

// Removes the group if nobody is in it. Does not wait.
bool remove_empty_group(int dir, const std::string& name);
// Removes the group and those below it, killing what is inside. False: it is still there, because
// the kernel has not finished with its processes after about 100 ms.
bool remove_group(int dir, const std::string& name);

// Removes, from each of `dirs`, the groups of supervisors that are dead as `self` sees them.
// Returns how many (a group that is in several counts once). Gives up after a few that resist.
std::size_t sweep_groups(const std::vector<int>& dirs, const CgroupOwner& self);

// Groups of this process that could not be removed when their run ended.
class CgroupLeftovers {
 public:
  void add(std::string name);
  // Tries again; returns how many are gone now.
  std::size_t remove(const std::vector<int>& dirs);

 private:
  std::mutex mutex_;
  std::vector<std::string> names_;
};

}  // namespace cordon::linux_backend
