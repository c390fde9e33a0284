// What runs the programs of a pool: the one place that decides how.
#pragma once

#include <cstdint>
#include <memory>

#include "cordon/error.h"
#include "cordon/pool.h"

namespace cordon::app::pool {

// Of a service. Thread-safe; ends what still runs when it is destroyed.
class Engine {
 public:
  // For `size` programs at once. Errors: those of linux_manager().
  [[nodiscard]] static Result<std::unique_ptr<Engine>> make(std::uint64_t size);

  [[nodiscard]] Manager& manager() { return pool_->manager(); }
  // Sandboxes that wait for a program.
  [[nodiscard]] std::uint64_t parked() const { return pool_->stats().ready; }

 private:
  explicit Engine(std::unique_ptr<Pool> pool) : pool_(std::move(pool)) {}

  std::unique_ptr<Pool> pool_;
};

}  // namespace cordon::app::pool
