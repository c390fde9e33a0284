#include "backend/gvisor/gvisor_engine.h"

#include <utility>

#include "backend/gvisor/gvisor_container.h"
#include "backend/gvisor/image_manifest.h"

namespace cordon::gvisor_backend {

Result<std::unique_ptr<supervise::Engine>> gvisor_engine() {
  auto runsc = find_runsc();
  if (!runsc) return std::unexpected(std::move(runsc.error()));
  return std::make_unique<GvisorEngine>(*std::move(runsc));
}

Result<std::unique_ptr<supervise::Container>> GvisorEngine::create(supervise::ContainerSpec spec) {
  return GvisorContainer::begin(runsc_, std::move(spec), "");
}

Result<std::unique_ptr<supervise::Container>> GvisorEngine::restore(
    supervise::ContainerSpec spec, const std::filesystem::path& image) {
  return GvisorContainer::begin(runsc_, std::move(spec), image.string());
}

}  // namespace cordon::gvisor_backend
