// What runs the programs of a pool: the one place that decides how.
#pragma once

#include <cstdint>
#include <memory>

#include "cordon/error.h"
#include "cordon/manager.h"

namespace cordon::app::pool {

// Of a service. Thread-safe; ends what still runs when it is destroyed.
class Engine {
 public:
  // For `size` programs at once. Errors: those of linux_manager().
  [[nodiscard]] static Result<std::unique_ptr<Engine>> make(std::uint64_t size);

  [[nodiscard]] Manager& manager() { return *manager_; }
  // Sandboxes that wait for a program.
  [[nodiscard]] static std::uint64_t parked() { return 0; }

 private:
  explicit Engine(std::unique_ptr<Manager> manager) : manager_(std::move(manager)) {}

  std::unique_ptr<Manager> manager_;
};

}  // namespace cordon::app::pool
