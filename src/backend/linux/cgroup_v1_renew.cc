// The part of cgroup_v1_group.h that makes a used group as good as new.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "backend/linux/cgroup_v1_group.h"
#include "backend/linux/cgroup_values.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

constexpr auto kUnlimited = "9223372036854771712";  // the largest number of whole pages

// The kernel takes memory for a group in steps of 64 pages for each processor, and gives back what
// it has freed some time later. Up to so much may still be counted when the next run begins, and
// in its peak; a group with more is not used again.
constexpr std::uint64_t kLeft = std::uint64_t{512} * 1024;

}  // namespace

bool CgroupV1::is_empty() const {
  return std::ranges::all_of(in_, [&](const V1Hierarchy* hierarchy) {
    const int dir = hierarchy->parent.fd.get();
    const auto tasks = read_file(dir, (name_ + "/tasks").c_str());
    struct stat at{};
    // A directory in it would be a link more.
    return tasks && tasks->empty() && ::fstatat(dir, name_.c_str(), &at, 0) == 0 &&
           at.st_nlink == 2;
  });
}

bool CgroupV1::put(v1::Controller controller, const char* file, std::string_view value,
                   std::string_view reads) const {
  if (!write(controller, file, value)) return false;
  const auto text = read(controller, file);
  return text && trimmed(*text) == reads;
}

bool CgroupV1::lift_memory_limit() const {
  // In this order: the limit with swap may never be below the one without.
  if (home_->memsw && !put(v1::memory, "memory.memsw.limit_in_bytes", "-1", kUnlimited)) {
    return false;
  }
  if (!put(v1::memory, "memory.limit_in_bytes", "-1", kUnlimited)) return false;
  // Where swap cannot be limited it was forbidden by this, if the kernel has it.
  const auto usual = home_->memsw
                         ? std::nullopt
                         : read_file(with(v1::memory)->parent.fd.get(), "memory.swappiness");
  return !usual || put(v1::memory, "memory.swappiness", trimmed(*usual), trimmed(*usual));
}

bool CgroupV1::lift_limits(const CgroupLimits& wanted) {
  if (in_force_.memory_bytes && !wanted.memory_bytes) {
    if (!lift_memory_limit()) return false;
    in_force_.memory_bytes.reset();
  }
  if (in_force_.processes && !wanted.processes) {
    if (!put(v1::pids, "pids.max", "max", "max")) return false;
    in_force_.processes.reset();
  }
  if (in_force_.cpu_millicores && !wanted.cpu_millicores) {
    if (!put(v1::cpu, "cpu.cfs_quota_us", "-1", "-1")) return false;
    if (!put(v1::cpu, "cpu.cfs_period_us", "100000", "100000")) return false;
    in_force_.cpu_millicores.reset();
  }
  return true;
}

Result<void> CgroupV1::set_all(const CgroupLimits& limits) {
  if (lift_limits(limits)) return set(limits);
  return base::fail(ErrorCode::limit_not_applied, "cgroup",
                    "the limits of an earlier run could not be taken from the group " + name_);
}

bool CgroupV1::reset_counters() const {
  if (with(v1::cpuacct) != nullptr) {
    if (!put(v1::cpuacct, "cpuacct.usage", "0", "0")) return false;
    // One write resets these, too; but not on every kernel.
    for (const char* const file : {"cpuacct.usage_user", "cpuacct.usage_sys"}) {
      const auto text = read(v1::cpuacct, file);
      if (!text || trimmed(*text) != "0") return false;
    }
  }
  if (with(v1::memory) == nullptr) return true;
  if (!write(v1::memory, "memory.max_usage_in_bytes", "0")) return false;
  return read_number(v1::memory, "memory.max_usage_in_bytes").value_or(kLeft + 1) <= kLeft;
}

bool CgroupV1::renew() {
  if (refused_before_kill_ || events_.watches_clock() || tasks_.empty()) return false;
  const CgroupUsage used = usage();
  if (used.oom_kills > 0 || used.forks_refused > 0) return false;
  if (used.processes_peak.value_or(0) > processes_of_setup()) return false;
  if (memory_bytes().value_or(0) > kLeft) return false;
  if (!is_empty() || !reset_counters()) return false;
  (void)events_.acknowledge();
  return true;
}

}  // namespace cordon::linux_backend
