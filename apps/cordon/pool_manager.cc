#include "pool_manager.h"

#include <utility>

#include "make_manager.h"

namespace cordon::app::pool {

Result<std::unique_ptr<Engine>> Engine::make(std::uint64_t /*size*/) {
  // With the limits that `cordon run` has, too.
  auto manager = make_manager(Backend::linux_sandbox);
  if (!manager) return std::unexpected(std::move(manager).error());
  return std::unique_ptr<Engine>(new Engine(*std::move(manager)));
}

}  // namespace cordon::app::pool
