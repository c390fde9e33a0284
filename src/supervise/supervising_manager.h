// The Manager over any Backend of real processes.
#pragma once

#include <memory>
#include <mutex>

#include "cordon/manager.h"
#include "supervise/supervised_process.h"

namespace cordon::supervise {

class SupervisingManager final : public Manager {
 public:
  explicit SupervisingManager(std::unique_ptr<Backend> backend);
  ~SupervisingManager() override;

  // What the first process would have to wait for is made now. Its start tells if that fails.
  void start_loop() { (void)shared_->loop(); }

  using Manager::create;
  [[nodiscard]] Result<std::shared_ptr<Process>> create(Request request) override;
  [[nodiscard]] Result<Plan> plan(const Request& request) const override;
  [[nodiscard]] Result<std::shared_ptr<Process>> get(ProcessId id) const override;
  [[nodiscard]] std::vector<std::shared_ptr<Process>> list() const override;
  [[nodiscard]] Result<void> set_default_limits(const Limits& limits) override;
  [[nodiscard]] Limits default_limits() const override;
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] Clock& clock() override { return real_clock(); }

 private:
  const std::shared_ptr<Shared> shared_;
  mutable std::mutex mutex_;
  Limits defaults_;
};

}  // namespace cordon::supervise
