#include "backend/linux/cgroup_v1_group.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>

#include "backend/linux/cgroup_table.h"
#include "backend/linux/cgroup_values.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

std::string_view name_of(unsigned controllers) {
  if ((controllers & v1::memory) != 0) return "memory";
  if ((controllers & v1::pids) != 0) return "pids";
  return (controllers & v1::cpu) != 0 ? "cpu" : "cpuacct";
}

std::optional<Duration> nanoseconds(std::optional<std::uint64_t> count) {
  if (!count) return std::nullopt;
  return Duration(static_cast<Duration::rep>(*count));
}

// v1 measures the time exactly, but how it was spent only at each tick of the clock: that is the
// proportion in which the exact time is divided.
void divide(Duration time, std::uint64_t user, std::uint64_t system, CgroupUsage& usage) {
  const double share =
      system == 0 ? 0 : static_cast<double>(system) / static_cast<double>(user + system);
  usage.cpu_system =
      Duration(static_cast<Duration::rep>(static_cast<double>(time.count()) * share));
  usage.cpu_user = time - *usage.cpu_system;
}

}  // namespace

std::vector<int> V1Home::dirs() const {
  std::vector<int> dirs;
  dirs.reserve(hierarchies.size());
  for (const auto& hierarchy : hierarchies) dirs.push_back(hierarchy.parent.fd.get());
  return dirs;
}

Result<std::unique_ptr<CgroupV1>> CgroupV1::make(std::shared_ptr<V1Home> home, std::string name,
                                                 unsigned controllers) {
  std::unique_ptr<CgroupV1> group(new CgroupV1(std::move(home), std::move(name)));
  group->in_.reserve(group->home_->hierarchies.size());
  for (const auto& hierarchy : group->home_->hierarchies) {
    if ((hierarchy.controllers & controllers) == 0) continue;
    if (::mkdirat(hierarchy.parent.fd.get(), group->name_.c_str(), 0755) != 0) {
      const int error = errno;
      return std::unexpected(Error{base::code_of_errno(error), "cgroup", error,
                                   "making the group " + hierarchy.parent.path + "/" +
                                       group->name_ + ": " + base::errno_text(error) + "; " +
                                       std::string(advice_for(error))});
    }
    group->in_.push_back(&hierarchy);
  }
  return group;
}

CgroupV1::~CgroupV1() {
  events_ = {};
  tasks_.clear();
  bool gone = true;
  for (const auto* const hierarchy : in_) {
    gone = remove_empty_group(hierarchy->parent.fd.get(), name_) && gone;
  }
  if (gone) return;
  for (const auto* const hierarchy : in_) prepare_kill(hierarchy->parent.fd.get(), name_);
  gone = true;
  for (const auto* const hierarchy : in_) {
    gone = remove_group(hierarchy->parent.fd.get(), name_) && gone;
  }
  if (!gone) home_->leftovers.add(name_);
}

const V1Hierarchy* CgroupV1::with(v1::Controller controller) const {
  const auto found = std::ranges::find_if(
      in_, [&](const V1Hierarchy* h) { return (h->controllers & controller) != 0; });
  return found == in_.end() ? nullptr : *found;
}

bool CgroupV1::has(v1::Controller controller, const char* file) const {
  const auto* const hierarchy = with(controller);
  return hierarchy != nullptr && exists(hierarchy->parent.fd.get(), (name_ + "/" + file).c_str());
}

Result<void> CgroupV1::write(v1::Controller controller, const char* file,
                             std::string_view value) const {
  const auto* const hierarchy = with(controller);
  if (hierarchy == nullptr) {
    const std::string name(name_of(controller));
    return base::fail(
        ErrorCode::limit_not_applied, "limit:" + name,
        name + " cannot be limited by control groups " + "here; see why with `cordon doctor`");
  }
  return set_limit(name_of(controller), hierarchy->parent, name_ + "/" + file, value);
}

std::optional<std::string> CgroupV1::read(v1::Controller controller, const char* file) const {
  const auto* const hierarchy = with(controller);
  if (hierarchy == nullptr) return std::nullopt;
  return counters_.read(hierarchy->parent.fd.get(), name_ + "/" + file);
}

std::optional<std::uint64_t> CgroupV1::read_number(v1::Controller controller,
                                                   const char* file) const {
  const auto text = read(controller, file);
  return text ? number(*text) : std::nullopt;
}

Result<void> CgroupV1::set(const CgroupLimits& limits) {
  Result<void> done;
  if (limits.memory_bytes && limits.memory_bytes != in_force_.memory_bytes) {
    done = set_memory(*limits.memory_bytes);
    if (!done) return done;
    in_force_.memory_bytes = limits.memory_bytes;
  }
  // The file pids.events can be polled, but since 6.11 the kernel wakes nobody who does.
  if (limits.processes && limits.tell_of_refusals) events_.watch_clock();
  if (limits.processes && limits.processes != in_force_.processes) {
    done = write(v1::pids, "pids.max", pids_value(*limits.processes));
    if (!done) return done;
    in_force_.processes = limits.processes;
  }
  if (limits.cpu_millicores && limits.cpu_millicores != in_force_.cpu_millicores) {
    const auto quota = cpu_quota(*limits.cpu_millicores);
    done = write(v1::cpu, "cpu.cfs_period_us", std::to_string(quota.period_us));
    if (done) done = write(v1::cpu, "cpu.cfs_quota_us", std::to_string(quota.quota_us));
    if (!done) return done;
    in_force_.cpu_millicores = limits.cpu_millicores;
  }
  return done;
}

Result<void> CgroupV1::set_memory(std::uint64_t bytes) const {
  const std::string value = std::to_string(bytes);
  const auto set = [&](const char* file) { return write(v1::memory, file, value); };
  const char* const without_swap = "memory.limit_in_bytes";
  const char* const with_swap = "memory.memsw.limit_in_bytes";
  if (!home_->memsw) {
    auto done = set(without_swap);
    // Second best, and not there on all kernels: then swap_limited() says what holds.
    if (done) (void)write(v1::memory, "memory.swappiness", "0");
    return done;
  }
  // The limit with swap may never be below the one without.
  const bool raised = in_force_.memory_bytes && *in_force_.memory_bytes < bytes;
  auto done = set(raised ? with_swap : without_swap);
  return done ? set(raised ? without_swap : with_swap) : done;
}

Result<void> CgroupV1::open() {
  for (const auto* const hierarchy : in_) {
    // Not cgroup.procs: moving a whole process takes a lock that costs milliseconds.
    const std::string path = name_ + "/tasks";
    base::Fd tasks = open_file(hierarchy->parent.fd.get(), path.c_str(), O_WRONLY);
    if (!tasks) {
      return base::fail_os("cgroup", errno, "opening " + hierarchy->parent.path + "/" + path);
    }
    tasks_.push_back(std::move(tasks));
  }
  // Without events the counters still tell afterwards: not a reason to fail.
  watch_oom();
  // Linux 6.18 does not notify about this file in v1; older kernels do.
  if (const auto* const pids = with(v1::pids)) {
    events_.watch_file(
        open_file(pids->parent.fd.get(), (name_ + "/pids.events").c_str(), O_RDONLY));
  }
  return {};
}

void CgroupV1::watch_oom() {
  const auto* const memory = with(v1::memory);
  if (memory == nullptr) return;
  const int dir = memory->parent.fd.get();
  const base::Fd control = open_file(dir, (name_ + "/memory.oom_control").c_str(), O_RDONLY);
  base::Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!control || !event) return;
  const std::string pair = std::to_string(event.get()) + " " + std::to_string(control.get());
  if (write_file(dir, (name_ + "/cgroup.event_control").c_str(), pair) == 0) {
    events_.watch_eventfd(std::move(event));
  }
}

std::vector<int> CgroupV1::tasks_fds(bool counts_processes) const {
  std::vector<int> fds;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const bool counts = (in_[i]->controllers & v1::pids) != 0;
    if (counts == counts_processes) fds.push_back(tasks_[i].get());
  }
  return fds;
}

bool CgroupV1::contains(std::string_view proc_pid_cgroup) const {
  return std::ranges::all_of(in_, [&](const V1Hierarchy* hierarchy) {
    const auto group = group_of(proc_pid_cgroup, name_of(hierarchy->controllers));
    return group && *group == full_path(hierarchy->group, name_);
  });
}

std::uint64_t CgroupV1::refused() const {
  const auto text = read(v1::pids, "pids.events");
  return text ? field(*text, "max").value_or(0) : 0;
}

void CgroupV1::open_counters() {
  const auto hold = [&](v1::Controller controller, std::initializer_list<const char*> files) {
    const auto* const hierarchy = with(controller);
    if (hierarchy == nullptr) return;
    for (const char* const file : files) {
      counters_.hold(hierarchy->parent.fd.get(), name_ + "/" + file);
    }
  };
  hold(v1::cpuacct, {"cpuacct.usage", "cpuacct.usage_user", "cpuacct.usage_sys"});
  hold(v1::memory,
       {"memory.max_usage_in_bytes", "memory.oom_control", "memory.stat", "memory.usage_in_bytes"});
  hold(v1::pids, {"pids.peak", "pids.events", "pids.current"});
}

std::optional<std::uint64_t> CgroupV1::processes() const {
  return read_number(v1::pids, "pids.current");
}

CgroupUsage CgroupV1::usage() const {
  CgroupUsage usage;
  if (const auto time = cpu_time()) {
    auto user = read_number(v1::cpuacct, "cpuacct.usage_user");
    auto system = read_number(v1::cpuacct, "cpuacct.usage_sys");
    if (!user || !system) {
      const auto stat = read(v1::cpuacct, "cpuacct.stat").value_or("");
      user = field(stat, "user");
      system = field(stat, "system");
    }
    if (user && system) divide(*time, *user, *system, usage);
  }
  usage.memory_peak_bytes = read_number(v1::memory, "memory.max_usage_in_bytes");
  usage.processes_peak = read_number(v1::pids, "pids.peak");
  const auto oom = read(v1::memory, "memory.oom_control");
  usage.oom_kills = oom ? field(*oom, "oom_kill").value_or(0) : 0;
  usage.forks_refused = refused_before_kill_ ? *refused_before_kill_ : refused();
  return usage;
}

std::optional<Duration> CgroupV1::cpu_time() const {
  return nanoseconds(read_number(v1::cpuacct, "cpuacct.usage"));
}

std::optional<std::uint64_t> CgroupV1::memory_bytes() const {
  return read_number(v1::memory, "memory.usage_in_bytes");
}

std::optional<MemoryParts> CgroupV1::memory_parts() const {
  const auto stat = read(v1::memory, "memory.stat");
  if (!stat) return std::nullopt;
  const auto anonymous = field(*stat, "total_rss");
  const auto cache = field(*stat, "total_cache");
  if (!anonymous || !cache) return std::nullopt;
  return MemoryParts{*anonymous, *cache};
}

void CgroupV1::kill() {
  // No fork succeeds from here on, and those refusals are not the run's.
  if (!refused_before_kill_) refused_before_kill_ = refused();
  for (const auto* const hierarchy : in_) prepare_kill(hierarchy->parent.fd.get(), name_);
  for (const auto* const hierarchy : in_) kill_group(hierarchy->parent.fd.get(), name_);
}

}  // namespace cordon::linux_backend
