#include "backend/linux/cgroup_v2_group.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "backend/linux/cgroup_table.h"
#include "backend/linux/cgroup_values.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

std::optional<Duration> microseconds(std::optional<std::uint64_t> count) {
  if (!count) return std::nullopt;
  return std::chrono::microseconds(static_cast<Duration::rep>(*count));
}

}  // namespace

Result<std::unique_ptr<CgroupV2>> CgroupV2::make(std::shared_ptr<V2Home> home, std::string name) {
  std::unique_ptr<CgroupV2> group(new CgroupV2(std::move(home), std::move(name)));
  const CgroupDir& parent = group->home_->place.parent;
  group->dir_.path = parent.path + "/" + group->name_;
  group->made_ = ::mkdirat(parent.fd.get(), group->name_.c_str(), 0755) == 0;
  if (group->made_) {
    group->dir_.fd = open_file(parent.fd.get(), group->name_.c_str(), O_RDONLY | O_DIRECTORY);
  }
  if (!group->dir_.fd) {
    const int error = errno;
    return std::unexpected(Error{base::code_of_errno(error), "cgroup", error,
                                 "making the group " + group->dir_.path + ": " +
                                     base::errno_text(error) + "; " +
                                     std::string(advice_for(error))});
  }
  return group;
}

CgroupV2::~CgroupV2() {
  events_ = {};
  own_.reset();
  procs_.reset();
  dir_.fd.reset();
  if (made_ && !remove_group(home_->place.parent.fd.get(), name_)) home_->leftovers.add(name_);
}

Result<void> CgroupV2::set(const CgroupLimits& limits) {
  const std::array<bool, kV2Controllers.size()> asked = {limits.memory_bytes.has_value(),
                                                         limits.processes.has_value(),
                                                         limits.cpu_millicores.has_value()};
  for (std::size_t i = 0; i < kV2Controllers.size(); ++i) {
    const auto& feature = home_->place.features[i];
    if (!asked[i] || feature.works) continue;
    return base::fail(ErrorCode::limit_not_applied, std::string("limit:") + kV2Controllers[i],
                      feature.why + "; " + feature.fix);
  }
  Result<void> done;
  if (limits.memory_bytes && limits.memory_bytes != in_force_.memory_bytes) {
    done = set_limit("memory", dir_, "memory.max", std::to_string(*limits.memory_bytes));
    if (done && home_->swap_max) done = set_limit("memory", dir_, "memory.swap.max", "0");
    // A run that lost one process at random is of no use to anyone. Not on kernels before 4.19.
    // Of a divided one it is the program whose process was chosen that ends.
    if (done && !own_) (void)write_file(dir_.fd.get(), "memory.oom.group", "1");
    if (!done) return done;
    in_force_.memory_bytes = limits.memory_bytes;
  }
  if (limits.processes && limits.processes != in_force_.processes) {
    done = set_limit("pids", dir_, "pids.max", pids_value(*limits.processes));
    if (!done) return done;
    in_force_.processes = limits.processes;
  }
  if (limits.cpu_millicores && limits.cpu_millicores != in_force_.cpu_millicores) {
    const auto quota = cpu_quota(*limits.cpu_millicores);
    done = set_limit("cpu", dir_, "cpu.max",
                     std::to_string(quota.quota_us) + " " + std::to_string(quota.period_us));
    if (!done) return done;
    in_force_.cpu_millicores = limits.cpu_millicores;
  }
  return done;
}

void CgroupV2::watch() {
  for (const char* const file : {"memory.events", "pids.events"}) {
    events_.watch_file(open_file(dir_.fd.get(), file, O_RDONLY));
  }
}

bool CgroupV2::contains(std::string_view proc_pid_cgroup) const {
  if (own_) return own_->contains(proc_pid_cgroup);
  const auto group = group_of(proc_pid_cgroup, "");
  return group && *group == full_path(home_->place.group, name_);
}

std::optional<std::uint64_t> CgroupV2::read_number(const char* file) const {
  const auto text = read(file);
  return text ? number(*text) : std::nullopt;
}

std::optional<std::uint64_t> CgroupV2::read_field(const char* file, const char* key) const {
  const auto text = read(file);
  return text ? field(*text, key) : std::nullopt;
}

std::optional<MemoryParts> CgroupV2::memory_parts() const {
  const auto stat = read("memory.stat");
  if (!stat) return std::nullopt;
  const auto anonymous = field(*stat, "anon");
  const auto cache = field(*stat, "file");
  if (!anonymous || !cache) return std::nullopt;
  return MemoryParts{*anonymous, *cache};
}

void CgroupV2::open_counters() {
  for (const char* const file : {"cpu.stat", "memory.peak", "memory.events", "memory.stat",
                                 "memory.current", "pids.peak", "pids.events", "pids.current"}) {
    counters_.hold(dir_.fd.get(), file);
  }
}

std::optional<std::uint64_t> CgroupV2::processes() const { return read_number("pids.current"); }

CgroupUsage CgroupV2::usage() const {
  CgroupUsage usage;
  if (const auto stat = read("cpu.stat")) {
    usage.cpu_user = microseconds(field(*stat, "user_usec"));
    usage.cpu_system = microseconds(field(*stat, "system_usec"));
  }
  usage.memory_peak_bytes = read_number("memory.peak");
  usage.processes_peak = read_number("pids.peak");
  usage.oom_kills = read_field("memory.events", "oom_kill").value_or(0);
  // From Linux 6.11 pids.events counts what this group's own limit refused, before that all refused
  // forks inside. pids.events.local would not count groups that the run makes below.
  usage.forks_refused = read_field("pids.events", "max").value_or(0);
  return usage;
}

std::optional<Duration> CgroupV2::cpu_time() const {
  return microseconds(read_field("cpu.stat", "usage_usec"));
}

std::optional<std::uint64_t> CgroupV2::memory_bytes() const {
  return read_number("memory.current");
}

void CgroupV2::kill() { kill_group(home_->place.parent.fd.get(), name_); }

}  // namespace cordon::linux_backend
