#include "backend/gvisor/gvisor_engine.h"

#include <utility>

#include "backend/gvisor/gvisor_container.h"
#include "base/errors.h"

namespace cordon::gvisor_backend {

Result<std::unique_ptr<supervise::Engine>> gvisor_engine() {
  auto runsc = find_runsc();
  if (!runsc) return std::unexpected(std::move(runsc.error()));
  return std::make_unique<GvisorEngine>(*std::move(runsc));
}

std::string GvisorEngine::no_checkpoint() const { return runsc_.no_checkpoint(); }

Result<std::unique_ptr<supervise::Container>> GvisorEngine::create(supervise::ContainerSpec spec) {
  return GvisorContainer::begin(runsc_, std::move(spec), "");
}

Result<std::unique_ptr<supervise::Container>> GvisorEngine::restore(
    supervise::ContainerSpec spec, const std::filesystem::path& image) {
  if (std::string why = no_checkpoint(); !why.empty()) {
    return base::fail(ErrorCode::unsupported, "restore", std::move(why));
  }
  return GvisorContainer::begin(runsc_, std::move(spec), image.string());
}

}  // namespace cordon::gvisor_backend
