// One container of gVisor: its sandbox, its main program, and a manager of those beside it.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backend/gvisor/exec_backend.h"
#include "backend/gvisor/image_manifest.h"
#include "backend/gvisor/runsc.h"
#include "supervise/container.h"
#include "supervise/supervising_manager.h"

namespace cordon::gvisor_backend {

class GvisorContainer final : public supervise::Container {
 public:
  // From the image in the directory `image`, unless that is empty. Errors: as of Engine.
  [[nodiscard]] static Result<std::unique_ptr<supervise::Container>> begin(
      const Runsc& runsc, supervise::ContainerSpec spec, const std::string& image);
  ~GvisorContainer() override;
  GvisorContainer(const GvisorContainer&) = delete;
  GvisorContainer& operator=(const GvisorContainer&) = delete;

  [[nodiscard]] std::shared_ptr<Process> main() override { return main_; }
  [[nodiscard]] Manager& inside() override { return *inside_manager_; }
  [[nodiscard]] Result<void> checkpoint(const supervise::CheckpointAsk& ask) override;
  [[nodiscard]] std::string broken() const override;

 private:
  GvisorContainer() = default;
  [[nodiscard]] Result<void> start(const Runsc& runsc, supervise::ContainerSpec spec,
                                   const std::string& image);
  // Writes the image into the new directory `directory`, and ends the sandbox.
  [[nodiscard]] Result<void> write_image(const std::string& directory,
                                         const supervise::CheckpointAsk& ask);

  Manifest manifest_;  // of its images
  std::unique_ptr<supervise::SupervisingManager> main_manager_;
  std::shared_ptr<Process> main_;
  std::shared_ptr<Inside> inside_;
  std::unique_ptr<supervise::SupervisingManager> inside_manager_;
  mutable std::mutex mutex_;
  std::string broken_;
};

}  // namespace cordon::gvisor_backend
