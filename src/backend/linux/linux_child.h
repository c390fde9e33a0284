// One sandboxed program, for the supervisor.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backend/linux/explain_observer.h"
#include "backend/linux/linux_backend.h"
#include "backend/linux/sandbox.h"
#include "backend/linux/start_sandbox.h"
#include "backend/linux/tree_sampler.h"
#include "backend/linux/views.h"
#include "supervise/backend.h"

namespace cordon::linux_backend {

class LinuxChild final : public supervise::Child {
 public:
  LinuxChild(LinuxBackend& backend, plan::SandboxPlan plan)
      : backend_(backend), plan_(std::move(plan)) {}
  ~LinuxChild() override;

  [[nodiscard]] Result<void> launch(const supervise::LaunchSpec& spec) override;
  [[nodiscard]] int exit_fd() const override { return sandbox_.program_fd(); }
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
  // From before the program's release.
  [[nodiscard]] Result<void> observe(base::Fd listener, const Sandbox& sandbox,
                                     const std::vector<OpenView>& views);
  [[nodiscard]] Error explain(const StartFailure& failure, const Request& request,
                              const std::vector<OpenView>& views) const;

  LinuxBackend& backend_;
  const plan::SandboxPlan plan_;
  bool end_at_process_limit_ = false;
  std::unique_ptr<Cgroup> group_;
  std::unique_ptr<RunIdentity> identity_;
  // Namespaces, held so that the kernel need not free them while somebody waits.
  base::Fd network_;
  base::Fd mounts_;
  std::unique_ptr<Observer> observer_;  // null: nobody asked; ends after the sandbox
  Sandbox sandbox_;
  std::optional<MemoryParts> memory_;
  std::unique_ptr<TreeSampler> sampler_;  // null: control groups count everything that is limited
  pid_t program_ = -1;
};

}  // namespace cordon::linux_backend
