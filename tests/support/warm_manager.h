// A manager for suites that are to hold for warm launches as for cold ones: it has a sandbox ready
// for each request that can have one. With a tenant, that has what another run of it has left.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "cordon/pool.h"

namespace cordon::support {

class WarmManager final : public Manager {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Manager>> make(std::optional<Tenant> tenant = {}) {
    auto pool = Pool::make({.size = 4});
    if (!pool) return std::unexpected(std::move(pool.error()));
    return std::make_unique<WarmManager>(std::move(*pool), std::move(tenant));
  }
  [[nodiscard]] static Result<std::unique_ptr<Manager>> make_reusing() {
    return make(Tenant::named("suite").value());
  }
  WarmManager(std::unique_ptr<Pool> pool, std::optional<Tenant> tenant)
      : pool_(std::move(pool)), tenant_(std::move(tenant)) {}

  using Manager::create;
  Result<std::shared_ptr<Process>> create(Request request) override {
    request.reuse = tenant_;
    if (tenant_) leave_something(request);
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
  // Runs something in such a sandbox, until one was made of what is left of that.
  void leave_something(const Request& like) {
    const std::uint64_t before = pool_->stats().reused;
    for (int i = 0; i < 5 && pool_->stats().reused == before; ++i) {
      Request other = like;
      other.program = "/bin/true";
      other.args.clear();
      other.argv0.clear();
      other.secrets.clear();
      other.terminal.reset();
      other.in = Input::none();
      other.out = other.err = Output::discard();
      other.timeout = {};
      other.cancel = {};
      if (!pool_->warm(other, 1)) return;
      auto process = inner().create(std::move(other));
      if (!process || !(*process)->start()) return;
      (void)(*process)->wait();
      if (!pool_->warm(like, 1)) return;
    }
  }
  [[nodiscard]] Manager& inner() const { return pool_->manager(); }

  std::unique_ptr<Pool> pool_;
  std::optional<Tenant> tenant_;
};

}  // namespace cordon::support
