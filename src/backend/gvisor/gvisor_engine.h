// Long-lived sandboxes on gVisor, which can be checkpointed and restored.
#pragma once

#include <memory>
#include <string>

#include "backend/gvisor/runsc.h"
#include "supervise/container.h"

namespace cordon::gvisor_backend {

// Error: unsupported without runsc; the message says how to install it.
[[nodiscard]] Result<std::unique_ptr<supervise::Engine>> gvisor_engine();

class GvisorEngine final : public supervise::Engine {
 public:
  explicit GvisorEngine(Runsc runsc) : runsc_(std::move(runsc)) {}
  [[nodiscard]] std::string_view name() const override { return "gvisor"; }
  [[nodiscard]] std::string no_checkpoint() const override;
  [[nodiscard]] Result<std::unique_ptr<supervise::Container>> create(
      supervise::ContainerSpec spec) override;
  [[nodiscard]] Result<std::unique_ptr<supervise::Container>> restore(
      supervise::ContainerSpec spec, const std::filesystem::path& image) override;

 private:
  const Runsc runsc_;
};

}  // namespace cordon::gvisor_backend
