// A manager for suites that are to hold for programs in a long-lived sandbox as for others: every
// request becomes a program inside one, beside a main program that sleeps.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/linux/linux_engine.h"
#include "cordon/manager.h"
#include "supervise/container.h"

namespace cordon::support {

// The main program of a sandbox in which `request` could run.
inline Request sleeping_main(Request request) {
  request.program = "/bin/sleep";
  request.args = {"infinity"};
  request.argv0.clear();
  std::erase_if(request.secrets,
                [](const Secret& secret) { return secret.delivery != Secret::Delivery::file; });
  request.env.clear();
  request.in = Input::none();
  request.out = Output::discard();
  request.err = Output::discard();
  request.terminal.reset();
  request.timeout = kNoTimeout;
  request.grace = std::chrono::milliseconds(0);
  request.cancel = {};
  request.limits = {};
  request.end_at_process_limit = false;
  return request;
}

// A sandbox for each request, so that it can have any grants.
class InsideManager final : public Manager {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Manager>> make(
      linux_backend::Weakened weakened = {}) {
    auto engine = linux_backend::make_engine(std::move(weakened));
    if (!engine) return std::unexpected(std::move(engine.error()));
    auto manager = std::make_unique<InsideManager>(std::move(*engine));
    // Whether any can be made.
    Request any;
    any.cwd = "/usr";
    auto first = manager->create_container(any);
    if (!first) return std::unexpected(std::move(first.error()));
    return manager;
  }
  explicit InsideManager(std::unique_ptr<supervise::Engine> engine) : engine_(std::move(engine)) {}

  using Manager::create;
  Result<std::shared_ptr<Process>> create(Request request) override {
    auto container = create_container(request);
    if (!container) return std::unexpected(std::move(container.error()));
    // They are the sandbox's.
    request.pins.clear();
    std::erase_if(request.secrets,
                  [](const Secret& secret) { return secret.delivery == Secret::Delivery::file; });
    auto process = (*container)->inside().create(std::move(request));
    const std::lock_guard lock(mutex_);
    if (process) made_.push_back(*process);
    return process;
  }
  [[nodiscard]] Result<Plan> plan(const Request& request) const override {
    return any().plan(request);
  }
  [[nodiscard]] Result<std::shared_ptr<Process>> get(ProcessId id) const override {
    return any().get(id);
  }
  [[nodiscard]] std::vector<std::shared_ptr<Process>> list() const override { return made_; }
  Result<void> set_default_limits(const Limits& limits) override {
    return any().set_default_limits(limits);
  }
  [[nodiscard]] Limits default_limits() const override { return any().default_limits(); }
  [[nodiscard]] Capabilities capabilities() const override { return any().capabilities(); }
  [[nodiscard]] Clock& clock() override { return real_clock(); }

 private:
  [[nodiscard]] Manager& any() const { return containers_.front()->inside(); }
  Result<supervise::Container*> create_container(const Request& request) {
    auto made = engine_->create({.sandbox_id = "suite", .request = sleeping_main(request)});
    if (!made) return std::unexpected(std::move(made.error()));
    const std::lock_guard lock(mutex_);
    return containers_.emplace_back(std::move(*made)).get();
  }

  std::unique_ptr<supervise::Engine> engine_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<supervise::Container>> containers_;
  std::vector<std::shared_ptr<Process>> made_;
};

// One sandbox for all.
class OneInside final : public Manager {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Manager>> make(const Request& like) {
    auto engine = linux_backend::make_engine();
    if (!engine) return std::unexpected(std::move(engine.error()));
    auto made = (*engine)->create({.sandbox_id = "suite", .request = sleeping_main(like)});
    if (!made) return std::unexpected(std::move(made.error()));
    return std::make_unique<OneInside>(std::move(*engine), std::move(*made));
  }
  OneInside(std::unique_ptr<supervise::Engine> engine,
            std::unique_ptr<supervise::Container> container)
      : engine_(std::move(engine)), container_(std::move(container)) {}

  using Manager::create;
  Result<std::shared_ptr<Process>> create(Request request) override {
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
  [[nodiscard]] Manager& inner() const { return container_->inside(); }
  std::unique_ptr<supervise::Engine> engine_;
  std::unique_ptr<supervise::Container> container_;
};

}  // namespace cordon::support
