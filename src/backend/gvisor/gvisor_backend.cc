#include "backend/gvisor/gvisor_backend.h"

#include <chrono>
#include <utility>

#include "backend/gvisor/gvisor_child.h"
#include "backend/gvisor/gvisor_plan.h"
#include "backend/linux/exec_paths.h"
#include "base/errors.h"
#include "supervise/supervising_manager.h"

namespace cordon {
namespace gvisor_backend {

Result<std::unique_ptr<GvisorBackend>> GvisorBackend::make(Role role) {
  auto runsc = find_runsc();
  if (!runsc) return std::unexpected(std::move(runsc.error()));
  return make(*std::move(runsc), std::move(role));
}

std::unique_ptr<GvisorBackend> GvisorBackend::make(Runsc runsc, Role role) {
  return std::unique_ptr<GvisorBackend>(new GvisorBackend(std::move(runsc), std::move(role)));
}

GvisorBackend::~GvisorBackend() = default;

Result<Threads*> GvisorBackend::threads() {
  const std::lock_guard lock(mutex_);
  if (!threads_) {
    auto started = Threads::start();
    if (!started) return std::unexpected(std::move(started.error()));
    threads_ = std::move(*started);
  }
  return threads_.get();
}

Result<Place*> GvisorBackend::place_for(const std::string& cgroup_parent) const {
  const std::lock_guard lock(mutex_);
  const auto known = places_.find(cgroup_parent);
  if (known != places_.end()) return known->second.get();
  auto made = std::make_unique<Place>();
  auto groups = linux_backend::open_cgroup_parent(cgroup_parent);
  if (groups) {
    made->groups = std::move(*groups);
    (void)made->groups->sweep();
    (void)sweep_runs();
    made->host = host_of(made->groups.get(), "");
  } else {
    // A place that was named must work.
    if (!cgroup_parent.empty()) return std::unexpected(std::move(groups.error()));
    (void)sweep_runs();
    made->host = host_of(nullptr, groups.error().message);
  }
  Place* const place = made.get();
  places_.emplace(cgroup_parent, std::move(made));
  return place;
}

Result<plan::SandboxPlan> GvisorBackend::sandbox_plan(const Request& request,
                                                      const Limits& limits) const {
  auto place = place_for(request.cgroup_parent);
  if (!place) return std::unexpected(std::move(place.error()));
  return make_plan(request, limits, (*place)->host, runsc_);
}

Result<std::unique_ptr<linux_backend::Cgroup>> GvisorBackend::make_group(
    const std::string& cgroup_parent, const plan::GroupLimits& limits) {
  auto place = place_for(cgroup_parent);
  if (!place) return std::unexpected(std::move(place.error()));
  const std::lock_guard alone((*place)->mutex);
  // Also without limits: by it everything is killed.
  if (!(*place)->groups) return nullptr;
  return (*place)->groups->make(linux_backend::CgroupLimits{.memory_bytes = limits.memory_bytes,
                                                            .processes = limits.processes,
                                                            .cpu_millicores = limits.cpu_millicores,
                                                            .tell_of_refusals = true});
}

Capabilities GvisorBackend::capabilities() const {
  using namespace std::chrono_literals;
  Request any;
  any.program = "/";
  any.cwd = "/usr";
  Limits all;
  all.memory_bytes = std::uint64_t{1} << 30;
  all.cpu_time = 1s;
  all.cpu_millicores = 1000;
  all.processes = 1;
  const auto plan = sandbox_plan(any, all);
  std::vector<std::string> gaps = {
      "What gVisor itself uses counts against the limits of memory and processes.",
      "runsc does not tell exit code 128 + n from death by signal n.",
      "A program that closes its stdin is not noticed: gVisor keeps it open.",
      "How many processes the program had at once is not known.",
  };
  if (!runsc_.pins) {
    gaps.emplace_back(
        "An ordinary user's runsc opens what is shown by name, after it was looked at.");
  }
  return {.backend = std::string(name()),
          .enforcement = plan ? plan->enforcement : Enforcement{},
          .gaps = std::move(gaps)};
}

Result<Plan> GvisorBackend::plan(const Request& request, const Limits& limits) const {
  auto plan = sandbox_plan(request, limits);
  if (!plan) return std::unexpected(std::move(plan.error()));
  auto path = linux_backend::find_inside(request, *plan);
  if (!path) return std::unexpected(std::move(path.error()));
  Plan described = describe(*plan, runsc_);
  described.steps.back().detail = *std::move(path);
  return described;
}

Result<std::unique_ptr<supervise::Child>> GvisorBackend::prepare(const Request& request,
                                                                 const Limits& limits) {
  auto plan = sandbox_plan(request, limits);
  if (!plan) return std::unexpected(std::move(plan.error()));
  return std::make_unique<GvisorChild>(*this, std::move(*plan));
}

}  // namespace gvisor_backend

Result<std::unique_ptr<Manager>> gvisor_manager() {
  auto backend = gvisor_backend::GvisorBackend::make();
  if (!backend) return std::unexpected(std::move(backend.error()));
  return std::make_unique<supervise::SupervisingManager>(std::move(*backend));
}

}  // namespace cordon
