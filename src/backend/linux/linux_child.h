// One sandboxed program, for the supervisor.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backend/linux/cell.h"
#include "backend/linux/linux_backend.h"
#include "backend/linux/secret_parts.h"
#include "backend/linux/tree_sampler.h"
#include "supervise/backend.h"

namespace cordon::linux_backend {

class LinuxChild final : public supervise::Child {
 public:
  LinuxChild(LinuxBackend& backend, plan::SandboxPlan plan)
      : backend_(backend), plan_(std::move(plan)) {}

  [[nodiscard]] Result<void> launch(const supervise::LaunchSpec& spec) override;
  [[nodiscard]] int exit_fd() const override { return cell_->sandbox().program_fd(); }
  [[nodiscard]] std::int64_t os_pid() const override { return program_; }
  [[nodiscard]] int send(int signal, Reach reach) override;
  [[nodiscard]] std::optional<supervise::Ended> reap() override;
  [[nodiscard]] std::optional<supervise::Sample> sample() const override;
  [[nodiscard]] Enforcement enforcement() const override { return plan_.enforcement; }
  [[nodiscard]] int alarm_fd() const override;
  [[nodiscard]] supervise::Alarm alarm() override;
  [[nodiscard]] std::optional<Duration> look_every() const override;

 private:
  // Keeps the largest of what it sees: what has ended has given its memory back.
  void note_memory();
  [[nodiscard]] supervise::Alarm group_alarm();
  [[nodiscard]] supervise::Alarm sampled_alarm();
  [[nodiscard]] Cgroup* group() const { return cell_->group(); }
  [[nodiscard]] CgroupLimits group_limits() const;
  // Nothing: no cell that was made ahead could be used, and launch_note_ says why.
  [[nodiscard]] std::optional<Result<void>> launch_warm(Place& place,
                                                        const supervise::LaunchSpec& spec,
                                                        const SecretParts& secrets);
  [[nodiscard]] Result<void> execute(const supervise::LaunchSpec& spec, const SecretParts& secrets);
  [[nodiscard]] Result<void> limit_program(std::vector<posix::RlimitSetting> limits) const;

  LinuxBackend& backend_;
  const plan::SandboxPlan plan_;
  bool end_at_process_limit_ = false;
  Launch launch_ = Launch::cold;
  std::string launch_note_;
  bool not_executed_ = false;   // everything was in place, but the program could not be executed
  std::unique_ptr<Cell> cell_;  // null: not launched
  std::optional<MemoryParts> memory_;
  std::unique_ptr<TreeSampler> sampler_;  // null: control groups count everything that is limited
  pid_t program_ = -1;
};

}  // namespace cordon::linux_backend
