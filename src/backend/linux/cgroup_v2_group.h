// The group of one run in cgroup v2.
#pragma once

#include <string>
#include <vector>

#include "backend/linux/cgroup.h"
#include "backend/linux/cgroup_events.h"
#include "backend/linux/cgroup_file.h"
#include "backend/linux/cgroup_kill.h"
#include "backend/linux/cgroup_v2_place.h"
#include "backend/linux/held_files.h"

namespace cordon::linux_backend {

// What the groups share with their parent; they may outlive it.
struct V2Home {
  V2Place place{};
  bool swap_max = false;  // swap can be forbidden
  CgroupLeftovers leftovers{};
};

class CgroupV2 final : public Cgroup {
 public:
  // On failure nothing is left; an EEXIST says that the name is taken.
  [[nodiscard]] static Result<std::unique_ptr<CgroupV2>> make(std::shared_ptr<V2Home> home,
                                                              std::string name);
  ~CgroupV2() override;
  CgroupV2(const CgroupV2&) = delete;
  CgroupV2& operator=(const CgroupV2&) = delete;

  [[nodiscard]] Result<void> set(const CgroupLimits& limits) override;
  // It serves one run, see renew().
  [[nodiscard]] Result<void> set_all(const CgroupLimits& limits) override { return set(limits); }
  void watch();
  [[nodiscard]] bool has(const char* file) const { return exists(dir_.fd.get(), file); }

  // Only of a group inside another: a process there has no right to clone into it.
  [[nodiscard]] std::vector<int> join_fds() const override {
    return procs_ ? std::vector{procs_.get()} : std::vector<int>{};
  }
  [[nodiscard]] std::vector<int> join_each_fds() const override { return {}; }
  [[nodiscard]] std::uint64_t processes_of_setup() const override { return 3; }
  [[nodiscard]] int clone_fd() const override { return own_ ? own_->dir_.fd.get() : dir_.fd.get(); }
  [[nodiscard]] bool contains(std::string_view proc_pid_cgroup) const override;
  [[nodiscard]] int event_fd() const override { return events_.fd(); }
  bool acknowledge() override { return events_.acknowledge(); }
  void open_counters() override;
  void settle() override { counters_ = {}; }
  [[nodiscard]] CgroupUsage usage() const override;
  [[nodiscard]] std::optional<std::uint64_t> processes() const override;
  [[nodiscard]] std::optional<Duration> cpu_time() const override;
  [[nodiscard]] std::optional<std::uint64_t> memory_bytes() const override;
  [[nodiscard]] std::optional<MemoryParts> memory_parts() const override;
  void kill() override;
  [[nodiscard]] bool limits_cpu() const override { return true; }
  // Its peak of processes cannot be reset, that of its memory only on new kernels; and it is one
  // directory, not three.
  [[nodiscard]] bool renew() override { return false; }
  [[nodiscard]] Result<std::unique_ptr<InnerGroups>> subdivide() override;
  // Opens what a process joins by.
  [[nodiscard]] Result<void> open_door();
  [[nodiscard]] std::string_view oom_counter() const override { return "memory.events oom_kill"; }

 private:
  CgroupV2(std::shared_ptr<V2Home> home, std::string name)
      : home_(std::move(home)), name_(std::move(name)) {}

  [[nodiscard]] std::optional<std::string> read(const char* file) const {
    return counters_.read(dir_.fd.get(), file);
  }
  [[nodiscard]] std::optional<std::uint64_t> read_number(const char* file) const;
  [[nodiscard]] std::optional<std::uint64_t> read_field(const char* file, const char* key) const;

  std::shared_ptr<V2Home> home_;
  std::string name_;
  CgroupDir dir_;
  bool made_ = false;
  base::Fd procs_;                 // to join by; empty: by clone_fd()
  std::unique_ptr<CgroupV2> own_;  // of a divided one: where its own processes are
  CgroupEvents events_;
  HeldFiles counters_;
  CgroupLimits in_force_;  // what was set
};

}  // namespace cordon::linux_backend
