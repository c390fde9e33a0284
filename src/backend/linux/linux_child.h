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

class Nest;

class LinuxChild final : public supervise::Child {
 public:
  // `nest`: the long-lived sandbox that it is to run in; null: one of its own.
  LinuxChild(LinuxBackend& backend, SharedPlan plan, std::shared_ptr<Nest> nest = nullptr,
             bool is_main = false)
      : backend_(backend),
        nest_(std::move(nest)),
        is_main_(is_main),
        shared_plan_(std::move(plan)),
        plan_(*shared_plan_) {}
  ~LinuxChild() override { give_back(); }
  LinuxChild(const LinuxChild&) = delete;
  LinuxChild& operator=(const LinuxChild&) = delete;

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
  // What another run of the tenant has left in the pool, for a cell of this run's own.
  [[nodiscard]] Remains borrow(Place& place, const Request& request);
  // What a cell leaves to others of its tenant, if it ended as it should.
  void give_back();
  [[nodiscard]] Result<void> execute(const supervise::LaunchSpec& spec, const SecretParts& secrets);
  [[nodiscard]] Result<void> limit_program(std::vector<posix::RlimitSetting> limits) const;

  [[nodiscard]] Result<void> launch_inside(const supervise::LaunchSpec& spec,
                                           const SecretParts& secrets);

  LinuxBackend& backend_;
  const std::shared_ptr<Nest> nest_;  // outlives the cell
  const bool is_main_;                // with whose end everything in the nest ends
  const SharedPlan shared_plan_;
  const plan::SandboxPlan& plan_;
  bool end_at_process_limit_ = false;
  Launch launch_ = Launch::cold;
  std::string launch_note_;
  bool killed_ = false;         // the whole tree, by the supervisor
  bool not_executed_ = false;   // everything was in place, but the program could not be executed
  std::unique_ptr<Cell> cell_;  // null: not launched
  std::uint64_t lent_ = 0;      // the kind of a tenant's cell, of which the pool awaits the rest
  bool ended_ = false;          // and everything inside has
  std::optional<MemoryParts> memory_;
  std::unique_ptr<TreeSampler> sampler_;  // null: control groups count everything that is limited
  pid_t program_ = -1;
};

}  // namespace cordon::linux_backend
