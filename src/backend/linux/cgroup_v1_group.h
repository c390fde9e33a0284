// The groups of one run in the hierarchies of cgroup v1.
#pragma once

#include <string>
#include <vector>

#include "backend/linux/cgroup.h"
#include "backend/linux/cgroup_events.h"
#include "backend/linux/cgroup_file.h"
#include "backend/linux/cgroup_kill.h"
#include "backend/linux/held_files.h"

namespace cordon::linux_backend {

namespace v1 {
enum Controller : unsigned { memory = 1, pids = 2, cpu = 4, cpuacct = 8 };
}  // namespace v1

struct V1Hierarchy {
  unsigned controllers = 0;  // those of v1::Controller that work in it
  CgroupDir parent{};        // the groups are made below it
  std::string group{};       // the parent, as /proc/PID/cgroup names it
};

// What the groups share with their parent; they may outlive it.
struct V1Home {
  std::vector<V1Hierarchy> hierarchies{};
  bool memsw = false;  // a limit of memory and swap together exists
  CgroupLeftovers leftovers{};

  [[nodiscard]] std::vector<int> dirs() const;
};

class CgroupV1 final : public Cgroup {
 public:
  // Makes directories in the hierarchies that have one of `controllers`. On failure nothing is
  // left; an EEXIST says that the name is taken.
  [[nodiscard]] static Result<std::unique_ptr<CgroupV1>> make(std::shared_ptr<V1Home> home,
                                                              std::string name,
                                                              unsigned controllers);
  ~CgroupV1() override;
  CgroupV1(const CgroupV1&) = delete;
  CgroupV1& operator=(const CgroupV1&) = delete;

  [[nodiscard]] Result<void> set(const CgroupLimits& limits) override;
  [[nodiscard]] Result<void> set_all(const CgroupLimits& limits) override;
  [[nodiscard]] bool limits_cpu() const override { return with(v1::cpu) != nullptr; }
  // Whether the controller's hierarchy offers this file.
  [[nodiscard]] bool has(v1::Controller controller, const char* file) const;
  // Opens what the run needs.
  [[nodiscard]] Result<void> open();

  [[nodiscard]] std::vector<int> join_fds() const override { return tasks_fds(false); }
  [[nodiscard]] std::vector<int> join_each_fds() const override { return tasks_fds(true); }
  [[nodiscard]] std::uint64_t processes_of_setup() const override { return 2; }
  [[nodiscard]] int clone_fd() const override { return -1; }
  [[nodiscard]] bool contains(std::string_view proc_pid_cgroup) const override;
  [[nodiscard]] int event_fd() const override { return events_.fd(); }
  bool acknowledge() override { return events_.acknowledge(); }
  void open_counters() override;
  void settle() override {
    counters_ = {};
    tasks_.clear();
  }
  [[nodiscard]] CgroupUsage usage() const override;
  [[nodiscard]] std::optional<std::uint64_t> processes() const override;
  [[nodiscard]] std::optional<Duration> cpu_time() const override;
  [[nodiscard]] std::optional<std::uint64_t> memory_bytes() const override;
  [[nodiscard]] std::optional<MemoryParts> memory_parts() const override;
  void kill() override;
  [[nodiscard]] bool renew() override;
  [[nodiscard]] Result<std::unique_ptr<InnerGroups>> subdivide() override;
  [[nodiscard]] std::string_view oom_counter() const override {
    return "memory.oom_control oom_kill";
  }

 private:
  CgroupV1(std::shared_ptr<V1Home> home, std::string name)
      : home_(std::move(home)), name_(std::move(name)) {}

  [[nodiscard]] const V1Hierarchy* with(v1::Controller controller) const;
  [[nodiscard]] Result<void> write(v1::Controller controller, const char* file,
                                   std::string_view value) const;
  [[nodiscard]] std::optional<std::string> read(v1::Controller controller, const char* file) const;
  [[nodiscard]] std::optional<std::uint64_t> read_number(v1::Controller controller,
                                                         const char* file) const;
  [[nodiscard]] std::uint64_t refused() const;
  [[nodiscard]] Result<void> set_memory(std::uint64_t bytes) const;
  void watch_oom();
  [[nodiscard]] bool is_empty() const;
  [[nodiscard]] bool put(v1::Controller controller, const char* file, std::string_view value,
                         std::string_view reads) const;
  // Those in force that are not among `wanted`.
  [[nodiscard]] bool lift_limits(const CgroupLimits& wanted);
  [[nodiscard]] bool lift_memory_limit() const;
  [[nodiscard]] bool reset_counters() const;
  // Of the hierarchy that counts processes, or of the others.
  [[nodiscard]] std::vector<int> tasks_fds(bool counts_processes) const;

  std::shared_ptr<V1Home> home_;
  std::string name_;
  std::vector<const V1Hierarchy*> in_;  // where the directory was made
  std::vector<base::Fd> tasks_;         // of each of them
  CgroupEvents events_;
  HeldFiles counters_;
  CgroupLimits in_force_;  // what was set
  std::optional<std::uint64_t> refused_before_kill_;
};

}  // namespace cordon::linux_backend
