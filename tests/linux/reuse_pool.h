// A pool of one sandbox, whose tenants' runs follow each other.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "cordon/pool.h"
#include "cordon/run.h"
#include "linux/harness.h"
#include "supervise/supervising_manager.h"

namespace cordon::linux_tests {

class ReusePool {
 public:
  explicit ReusePool(linux_backend::Weakened weakened = {},
                     const PoolOptions& options = {.size = 1}, Clock& clock = real_clock()) {
    auto backend = linux_backend::LinuxBackend::make(std::move(weakened)).value();
    EXPECT_TRUE(backend->keep_ready(options, clock));
    backend_ = backend.get();
    manager_ = std::make_unique<supervise::SupervisingManager>(std::move(backend));
  }

  // When one is ready; of the run before, if that was of the same tenant and left something.
  Outcome run(Request request) {
    const auto plan = backend_->sandbox_plan(request, request.limits);
    EXPECT_TRUE(plan) << plan.error().message;
    const auto ready = backend_->pool()->warm(**backend_->place_for(""), *plan, 1);
    EXPECT_TRUE(ready) << ready.error().message;
    Outcome outcome = cordon::run(*manager_, std::move(request));
    EXPECT_NE(outcome.launch, Launch::cold) << to_json(outcome);
    return outcome;
  }
  [[nodiscard]] PoolStats stats() const { return backend_->pool()->stats(); }
  [[nodiscard]] linux_backend::CellPool& pool() { return *backend_->pool(); }
  [[nodiscard]] Manager& manager() { return *manager_; }

 private:
  linux_backend::LinuxBackend* backend_ = nullptr;  // the manager's
  std::unique_ptr<supervise::SupervisingManager> manager_;
};

[[nodiscard]] inline Tenant tenant(const std::string& name = "tenant") {
  return Tenant::named(name).value();
}

}  // namespace cordon::linux_tests
