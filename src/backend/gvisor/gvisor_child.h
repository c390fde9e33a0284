// One program in a sandbox of its own, for the supervisor.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backend/gvisor/file_relay.h"
#include "backend/gvisor/gvisor_backend.h"
#include "backend/gvisor/sandbox.h"
#include "backend/linux/tree_sampler.h"
#include "plan/sandbox_plan.h"
#include "supervise/backend.h"

namespace cordon::gvisor_backend {

class GvisorChild final : public supervise::Child {
 public:
  GvisorChild(GvisorBackend& backend, plan::SandboxPlan plan)
      : backend_(backend), plan_(std::move(plan)) {}
  ~GvisorChild() override;
  GvisorChild(const GvisorChild&) = delete;
  GvisorChild& operator=(const GvisorChild&) = delete;

  [[nodiscard]] Result<void> launch(const supervise::LaunchSpec& spec) override;
  [[nodiscard]] int exit_fd() const override { return sandbox_->exit_fd(); }
  [[nodiscard]] std::int64_t os_pid() const override { return sandbox_->pid(); }
  [[nodiscard]] int send(int signal, Reach reach) override;
  [[nodiscard]] std::optional<supervise::Ended> reap() override;
  [[nodiscard]] std::optional<supervise::Sample> sample() const override;
  [[nodiscard]] Enforcement enforcement() const override { return plan_.enforcement; }
  [[nodiscard]] int alarm_fd() const override;
  [[nodiscard]] supervise::Alarm alarm() override;
  [[nodiscard]] std::optional<Duration> look_every() const override;

 private:
  [[nodiscard]] linux_backend::Cgroup* group() const { return sandbox_->group(); }
  [[nodiscard]] Error explain(Error error, const Request& request) const;
  void add_usage(supervise::Ended& ended);
  // Without a group somebody has to look.
  void sample_tree();
  [[nodiscard]] supervise::Alarm sampled_alarm();

  GvisorBackend& backend_;
  Threads* threads_ = nullptr;  // of the backend
  const plan::SandboxPlan plan_;
  std::unique_ptr<linux_backend::TreeSampler> sampler_;  // null: groups count what is limited
  Duration cpu_before_{0};                               // used by gVisor until the program began
  FileRelay relays_[2];               // of stdout and stderr; they end after the sandbox
  std::shared_ptr<Sandbox> sandbox_;  // null: not launched
};

// What runsc's exit status says of a program inside: 128 + n is death by signal n.
void set_status(supervise::Ended& ended, int code);

}  // namespace cordon::gvisor_backend
