#include "sandbox/inside_manager.h"

#include <utility>

#include "base/errors.h"

namespace cordon::sandbox {

Result<std::shared_ptr<Process>> InsideManager::create(Request request) {
  return life_.make_inside(std::move(request));
}

Result<Plan> InsideManager::plan(const Request& request) const {
  Result<Plan> plan;
  auto used =
      life_.with_inside(Operation::execute, [&](Manager& inside) { plan = inside.plan(request); });
  if (!used) return std::unexpected(std::move(used.error()));
  return plan;
}

Result<std::shared_ptr<Process>> InsideManager::get(ProcessId id) const {
  for (auto& process : life_.processes()) {
    if (process->id() == id) return std::move(process);
  }
  return base::fail(ErrorCode::not_found, "get",
                    "no process " + std::to_string(id) + " in sandbox " + life_.id());
}

std::vector<std::shared_ptr<Process>> InsideManager::list() const { return life_.processes(); }

Result<void> InsideManager::set_default_limits(const Limits& limits) {
  Result<void> set;
  auto used = life_.with_inside(Operation::execute,
                                [&](Manager& inside) { set = inside.set_default_limits(limits); });
  return used ? set : used;
}

Limits InsideManager::default_limits() const {
  Limits limits = life_.request().limits;
  (void)life_.with_inside(Operation::execute,
                          [&](Manager& inside) { limits = inside.default_limits(); });
  return limits;
}

Capabilities InsideManager::capabilities() const {
  Capabilities capabilities{
      .backend = std::string(life_.engine_name()), .enforcement = {}, .gaps = {}};
  (void)life_.with_inside(Operation::execute,
                          [&](Manager& inside) { capabilities = inside.capabilities(); });
  return capabilities;
}

// That of real processes: whoever scripts them has the manager he made the sandbox on.
Clock& InsideManager::clock() { return real_clock(); }

}  // namespace cordon::sandbox
