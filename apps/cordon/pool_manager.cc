#include "pool_manager.h"

#include <utility>

#include "make_manager.h"

namespace cordon::app::pool {

Result<std::unique_ptr<Engine>> Engine::make(std::uint64_t size) {
  auto pool = Pool::make({.size = size});
  if (!pool) return std::unexpected(std::move(pool).error());
  // The limits that `cordon run` has, too.
  if (auto set = (*pool)->manager().set_default_limits(usual_limits(Backend::linux_sandbox));
      !set) {
    return std::unexpected(std::move(set).error());
  }
  return std::unique_ptr<Engine>(new Engine(*std::move(pool)));
}

}  // namespace cordon::app::pool
