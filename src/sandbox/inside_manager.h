// A sandbox seen as a Manager: its processes are made inside, by the rules of the state machine.
// Thread-safe; lives no longer than the Life.
#pragma once

#include <memory>
#include <vector>

#include "cordon/manager.h"
#include "sandbox/life.h"

namespace cordon::sandbox {

class InsideManager final : public Manager {
 public:
  explicit InsideManager(Life& life) : life_(life) {}

  using Manager::create;
  [[nodiscard]] Result<std::shared_ptr<Process>> create(Request request) override;
  // Error: wrong_state, unless it runs.
  [[nodiscard]] Result<Plan> plan(const Request& request) const override;
  [[nodiscard]] Result<std::shared_ptr<Process>> get(ProcessId id) const override;
  [[nodiscard]] std::vector<std::shared_ptr<Process>> list() const override;
  // Error: wrong_state, unless it runs.
  [[nodiscard]] Result<void> set_default_limits(const Limits& limits) override;
  [[nodiscard]] Limits default_limits() const override;
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] Clock& clock() override;

 private:
  Life& life_;
};

}  // namespace cordon::sandbox
