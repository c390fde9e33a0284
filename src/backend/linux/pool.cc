#include "cordon/pool.h"

#include <utility>

#include "backend/linux/linux_backend.h"
#include "base/errors.h"
#include "supervise/supervising_manager.h"

namespace cordon {

struct Pool::State {
  linux_backend::LinuxBackend* backend = nullptr;  // the manager's
  std::unique_ptr<supervise::SupervisingManager> manager;
};

Pool::Pool(std::unique_ptr<State> state) : state_(std::move(state)) {}
Pool::~Pool() = default;

Result<std::unique_ptr<Pool>> Pool::make(const PoolOptions& options) {
  if (options.size == 0 || options.memory_bytes == 0 || options.idle <= Duration{0}) {
    return base::fail(ErrorCode::invalid_argument, "pool",
                      "a pool must be allowed to keep something ready: size, memory_bytes and "
                      "idle have to be more than 0");
  }
  auto backend = linux_backend::LinuxBackend::make();
  if (!backend) return std::unexpected(std::move(backend.error()));
  if (auto begun = (*backend)->keep_ready(options); !begun) {
    return std::unexpected(std::move(begun.error()));
  }
  auto state = std::make_unique<State>();
  state->backend = backend->get();
  state->manager = std::make_unique<supervise::SupervisingManager>(std::move(*backend));
  return std::unique_ptr<Pool>(new Pool(std::move(state)));
}

Manager& Pool::manager() { return *state_->manager; }

Result<void> Pool::warm(const Request& like, std::size_t count) {
  if (auto ok = validate(like); !ok) return ok;
  linux_backend::LinuxBackend& backend = *state_->backend;
  auto plan =
      backend.sandbox_plan(like, with_defaults(like.limits, state_->manager->default_limits()));
  if (!plan) return std::unexpected(std::move(plan.error()));
  if (const std::string why = linux_backend::unfit_for_pool(like, **plan); !why.empty()) {
    return base::fail(ErrorCode::unsupported, "pool",
                      "no sandbox can be made ahead of such a request: " + why);
  }
  auto place = backend.place_for(like.cgroup_parent);
  if (!place) return std::unexpected(std::move(place.error()));
  return backend.pool()->warm(**place, *plan, count);
}

PoolStats Pool::stats() const { return state_->backend->pool()->stats(); }

}  // namespace cordon
