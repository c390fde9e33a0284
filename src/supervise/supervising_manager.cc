#include "supervise/supervising_manager.h"

#include <utility>

namespace cordon::supervise {

SupervisingManager::SupervisingManager(std::unique_ptr<Backend> backend)
    : shared_(std::make_shared<Shared>(std::move(backend))) {}

SupervisingManager::~SupervisingManager() {
  const auto running = shared_->table.running();
  for (const auto& process : running) (void)process->kill();
  for (const auto& process : running) (void)process->wait();
  shared_->backend->retire();
  shared_->close_loop();
}

Result<std::shared_ptr<Process>> SupervisingManager::create(Request request) {
  if (auto ok = validate(request); !ok) return std::unexpected(std::move(ok.error()));
  const Limits limits = with_defaults(request.limits, default_limits());
  auto child = shared_->backend->prepare(request, limits);
  if (!child) return std::unexpected(std::move(child.error()));
  const ProcessId id = shared_->table.next_id();
  auto process = std::make_shared<SupervisedProcess>(shared_, id, std::move(request), limits,
                                                     std::move(*child));
  shared_->table.add(id, process);
  return process;
}

Result<Plan> SupervisingManager::plan(const Request& request) const {
  if (auto ok = validate(request); !ok) return std::unexpected(std::move(ok.error()));
  return shared_->backend->plan(request, with_defaults(request.limits, default_limits()));
}

Result<std::shared_ptr<Process>> SupervisingManager::get(ProcessId id) const {
  return shared_->table.get(id);
}

std::vector<std::shared_ptr<Process>> SupervisingManager::list() const {
  return shared_->table.list();
}

Result<void> SupervisingManager::set_default_limits(const Limits& limits) {
  if (auto ok = validate(limits); !ok) return ok;
  const std::lock_guard lock(mutex_);
  defaults_ = limits;
  return {};
}

Limits SupervisingManager::default_limits() const {
  const std::lock_guard lock(mutex_);
  return defaults_;
}

Capabilities SupervisingManager::capabilities() const { return shared_->backend->capabilities(); }

}  // namespace cordon::supervise
