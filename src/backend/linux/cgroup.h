// Control groups: the limits of a whole tree of processes, and the kernel's own counters about it.
//
// One interface over cgroup v1 and v2 (cgroup_v1.cc, cgroup_v2.cc). A CgroupParent is the place
// below which the runs' groups are made; a Cgroup is those of one run. Both are used by one thread
// at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "plan/host.h"

namespace cordon::linux_backend {

struct CgroupLimits {
  std::optional<std::uint64_t> memory_bytes;  // swap included
  std::optional<std::uint64_t> processes;     // processes and threads, the sandbox's init included
  std::optional<std::uint32_t> cpu_millicores;
  bool tell_of_refusals = false;  // event_fd() is watched for refused forks, not for OOM kills only
};

// What the kernel counted for the run. Empty: not known here.
struct CgroupUsage {
  std::optional<Duration> cpu_user;
  std::optional<Duration> cpu_system;
  std::optional<std::uint64_t> memory_peak_bytes;
  std::optional<std::uint64_t> processes_peak;
  // Since the group was made. v2 ends the whole run at once, and counts the first victim twice.
  std::uint64_t oom_kills = 0;
  std::uint64_t forks_refused = 0;  // by the process limit
};

// What the memory of a run is, at the moment.
struct MemoryParts {
  std::uint64_t anonymous_bytes = 0;
  std::uint64_t cache_bytes = 0;  // of files, those of a tmpfs included
};

class Cgroup;

// Groups below that of a sandbox, for the programs in it: what limits the sandbox bounds all of
// them together. Used by one thread at a time; not after the sandbox's group is gone.
class InnerGroups {
 public:
  virtual ~InnerGroups() = default;
  // As CgroupParent::make(true). Its processes join by join_fds() and join_each_fds(), whoever they
  // are: the rights are those of this process.
  [[nodiscard]] virtual Result<std::unique_ptr<Cgroup>> make() = 0;
};

class Cgroup {
 public:
  // Kills what is left inside, and removes the group. What cannot be removed is left to sweep().
  virtual ~Cgroup() = default;

  // What is not given stays as it is. A limit whose controller does not work here, or was not asked
  // for when the group was made, is an error (limit_not_applied). Errors name the file, the value
  // and the errno.
  [[nodiscard]] virtual Result<void> set(const CgroupLimits& limits) = 0;
  // The same, and what is not given is not limited: for a group that may have served another run.
  [[nodiscard]] virtual Result<void> set_all(const CgroupLimits& limits) = 0;
  // Whether it was made for a limited share of the processors, too.
  [[nodiscard]] virtual bool limits_cpu() const = 0;

  // v1: descriptors of `tasks` files. A process that writes "0" into each moves itself in: the
  // set-up process, for itself and those it makes. Into join_each_fds() init and the program move
  // by themselves, so that the set-up process is not among the processes that are counted there.
  [[nodiscard]] virtual std::vector<int> join_fds() const = 0;
  [[nodiscard]] virtual std::vector<int> join_each_fds() const = 0;
  // So many processes are counted in it before the program begins: init, the program, and where
  // that cannot be helped the set-up process.
  [[nodiscard]] virtual std::uint64_t processes_of_setup() const = 0;
  // v2: for clone3 with CLONE_INTO_CGROUP; v1: -1.
  [[nodiscard]] virtual int clone_fd() const = 0;
  // Whether the text of a /proc/PID/cgroup says that the process is in this group, in each
  // hierarchy that limits it.
  [[nodiscard]] virtual bool contains(std::string_view proc_pid_cgroup) const = 0;

  // Readable after an OOM kill, or a fork refused by the process limit; -1 where the kernel offers
  // no event. acknowledge() makes it unreadable until the next one. A hint only; usage() has the
  // facts. v2 also signals when the memory limit was reached and reclaim helped. v1 signals an OOM
  // just before the kill is counted, and newer kernels (seen on 6.18) count a refused fork there
  // without signalling it. acknowledge() returns false if there was none, and it was only time to
  // look at usage() (CgroupLimits::tell_of_refusals).
  [[nodiscard]] virtual int event_fd() const = 0;
  virtual bool acknowledge() = 0;

  // Opens what the following ones read, so that nobody waits for that then.
  virtual void open_counters() = 0;
  // For a run that may take long: nobody else is going to join, and the descriptors are needed more
  // than the time. It is not renewed after this.
  virtual void settle() = 0;
  [[nodiscard]] virtual CgroupUsage usage() const = 0;
  // Processes and threads that are in it now.
  [[nodiscard]] virtual std::optional<std::uint64_t> processes() const = 0;
  // Processor time used so far, by all processes of the run, the ended ones too.
  [[nodiscard]] virtual std::optional<Duration> cpu_time() const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> memory_bytes() const = 0;
  [[nodiscard]] virtual std::optional<MemoryParts> memory_parts() const = 0;
  // SIGKILL to every process inside, and no limit of processor time any more: a throttled process
  // would take up to a period (a second, for small shares) to end. v1: returns when none is left,
  // or after about 100 ms; no fork inside succeeds from then on.
  virtual void kill() = 0;
  // Makes its counters what they were when it was made, and reads them back; its limits are left to
  // set_all(). False: it must not serve another run. Refuses a group in which somebody is, or that
  // has counted what cannot be taken back: more than processes_of_setup() at once, for one.
  [[nodiscard]] virtual bool renew() = 0;
  // Makes it one that has others below it, while nobody is in it. Its own processes are in one of
  // these from then on where v2 wants that. Errors: unsupported, system.
  [[nodiscard]] virtual Result<std::unique_ptr<InnerGroups>> subdivide() = 0;
  // As the evidence in an outcome names it: "memory.events oom_kill", "memory.oom_control
  // oom_kill".
  [[nodiscard]] virtual std::string_view oom_counter() const = 0;
};

class CgroupParent {
 public:
  virtual ~CgroupParent() = default;
  [[nodiscard]] virtual plan::CgroupVersion version() const = 0;
  // Where it is, for people.
  [[nodiscard]] virtual std::string path() const = 0;
  // Which controllers can be used here.
  [[nodiscard]] virtual plan::Feature memory() const = 0;
  [[nodiscard]] virtual plan::Feature pids() const = 0;
  [[nodiscard]] virtual plan::Feature cpu() const = 0;
  [[nodiscard]] virtual bool swap_limited() const = 0;

  // A group without limits and with no process in it; `cpu`: its share of the processors is going
  // to be limited. Errors name the file and the errno.
  [[nodiscard]] virtual Result<std::unique_ptr<Cgroup>> make(bool cpu) = 0;
  // … with these limits in place: the plan asks only for what works.
  [[nodiscard]] Result<std::unique_ptr<Cgroup>> make(const CgroupLimits& limits);
  // Removes the groups of supervisors that are dead. Returns how many.
  virtual std::size_t sweep() = 0;
};

// The parent: `name` (a path relative to the hierarchies' roots, as the user gives it), or if empty
// `cordon` below the caller's own group. Error: unsupported, with the reason and what to do.
// `mountinfo` is what /proc/self/mountinfo says: not cheap to read, and of interest to others too.
[[nodiscard]] Result<std::unique_ptr<CgroupParent>> open_cgroup_parent(
    const std::string& name, const std::optional<std::string>& mountinfo);
[[nodiscard]] Result<std::unique_ptr<CgroupParent>> open_cgroup_parent(const std::string& name);

}  // namespace cordon::linux_backend
