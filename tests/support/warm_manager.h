// A manager for suites that are to hold for warm launches as for cold ones: it has a sandbox ready
// for each request that can have one.
#pragma once

#include <memory>
#include <utility>

#include "cordon/pool.h"

namespace cordon::support {

class WarmManager final : public Manager {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Manager>> make() {
    auto pool = Pool::make({.size = 4});
    if (!pool) return std::unexpected(std::move(pool.error()));
    return std::make_unique<WarmManager>(std::move(*pool));
  }
  explicit WarmManager(std::unique_ptr<Pool> pool) : pool_(std::move(pool)) {}

  using Manager::create;
  Result<std::shared_ptr<Process>> create(Request request) override {
    (void)pool_->warm(request, 1);  // what is wrong with it, create() says
    return inner().create(std::move(request));
  }
  [[nodiscard]] Result<Plan> plan(const Request& request) const override {
    return inner().plan(request);
  }
  [[nodiscard]] Result<std::shared_ptr<Process>> get(ProcessId id) const override {
    return inner().get(id);
  }
  [[nodiscard]] std::vector<std::shared_ptr<Process>> list() const override {
    return inner().list();
  }
  Result<void> set_default_limits(const Limits& limits) override {
    return inner().set_default_limits(limits);
  }
  [[nodiscard]] Limits default_limits() const override { return inner().default_limits(); }
  [[nodiscard]] Capabilities capabilities() const override { return inner().capabilities(); }
  [[nodiscard]] Clock& clock() override { return inner().clock(); }

 private:
  [[nodiscard]] Manager& inner() const { return pool_->manager(); }

  std::unique_ptr<Pool> pool_;
};

}  // namespace cordon::support
