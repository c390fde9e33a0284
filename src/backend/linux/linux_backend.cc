#include "backend/linux/linux_backend.h"

#include <algorithm>
#include <utility>

#include "backend/linux/exec_paths.h"
#include "backend/linux/linux_child.h"
#include "backend/linux/probe.h"
#include "backend/linux/probe_files.h"
#include "backend/linux/real_paths.h"
#include "backend/linux/root_listing.h"
#include "base/errors.h"
#include "supervise/supervising_manager.h"

namespace cordon {
namespace linux_backend {
namespace {

Request any_request() {
  Request request;
  request.program = "/";
  request.cwd = "/usr";
  return request;
}

Limits all_limits() {
  Limits limits;
  limits.memory_bytes = std::uint64_t{1} << 30;
  limits.cpu_time = std::chrono::seconds(1);
  limits.cpu_millicores = 1000;
  limits.processes = 1;
  return limits;
}

}  // namespace

Result<std::unique_ptr<LinuxBackend>> LinuxBackend::make(Weakened weakened) {
  std::unique_ptr<LinuxBackend> backend(new LinuxBackend);
  backend->weakened_ = std::move(weakened);
  auto keeper = Keeper::start();
  if (!keeper) return std::unexpected(std::move(keeper.error()));
  backend->keeper_ = std::move(*keeper);
  backend->spawner_ = std::make_unique<SpawnerLink>(*backend->keeper_);
  backend->spawner_->start_ahead();  // while the host is probed
  backend->identities_ = std::make_unique<Identities>();
  backend->networks_.emplace(stock_of_networks(*backend->keeper_));
  backend->roots_ = std::make_unique<RootTemplates>(*backend->spawner_);

  auto place = backend->place_for("");
  if (!place) return std::unexpected(std::move(place.error()));
  if ((*place)->groups) {
    (*place)->sweep = [keeper = backend->keeper_.get(), place = *place] {
      keeper->post([place] {
        const std::lock_guard alone(place->mutex);
        (void)place->groups->sweep();
      });
    };
  }
  // What no request could be run without is missing from every plan: say so at once.
  auto possible = backend->sandbox_plan(any_request(), all_limits());
  if (!possible) return std::unexpected(std::move(possible.error()));
  backend->enforcement_ = (*possible)->enforcement;
  return backend;
}

Result<Place*> LinuxBackend::place_for(const std::string& cgroup_parent) const {
  const std::lock_guard lock(mutex_);
  const auto known = places_.find(cgroup_parent);
  if (known != places_.end()) return known->second.get();
  auto made = std::make_unique<Place>();
  Place* place = made.get();
  const auto mountinfo = read_small_file("/proc/self/mountinfo");
  auto groups = weakened_.no_groups ? base::fail(ErrorCode::unsupported, "cgroup", "left out")
                                    : open_cgroup_parent(cgroup_parent, mountinfo);
  if (groups) {
    place->groups = std::move(*groups);
    place->host = probe_host(place->groups.get(), nullptr, ProbeDepth::quick, mountinfo);
    const auto make_ahead = [place](bool cpu) -> std::optional<std::unique_ptr<Cgroup>> {
      const std::lock_guard alone(place->mutex);
      auto group = place->groups->make(cpu);
      if (!group) return std::nullopt;
      (*group)->open_counters();
      return std::move(*group);
    };
    constexpr auto kLater = GroupStock::Replaced::later;  // most come back
    place->stock.emplace(*keeper_, [make_ahead] { return make_ahead(false); }, kLater);
    place->cpu_stock.emplace(*keeper_, [make_ahead] { return make_ahead(true); }, kLater);
  } else {
    // A place that was named must work; else there are other ways.
    if (!cgroup_parent.empty()) return std::unexpected(std::move(groups.error()));
    place->host = probe_host(nullptr, &groups.error(), ProbeDepth::quick, mountinfo);
  }
  places_.emplace(cgroup_parent, std::move(made));
  return place;
}

Result<SharedPlan> LinuxBackend::sandbox_plan(const Request& request, const Limits& limits) const {
  auto place = place_for(request.cgroup_parent);
  if (!place) return std::unexpected(std::move(place.error()));
  const Request real = with_real_paths(request);
  if (real.root.empty()) return plans_.plan(real, limits, callers_.now(), (*place)->host);
  auto root = list_root(real);
  if (!root) return std::unexpected(std::move(root.error()));
  auto made = plan::make_sandbox_plan(real, limits, callers_.now(), (*place)->host, &*root);
  if (!made) return std::unexpected(std::move(made.error()));
  return std::make_shared<const plan::SandboxPlan>(*std::move(made));
}

Result<std::unique_ptr<Cgroup>> LinuxBackend::make_group(Place& place, const CgroupLimits& limits,
                                                         bool cpu) {
  cpu = cpu || limits.cpu_millicores;
  if (auto ready = (cpu ? place.cpu_stock : place.stock)->take()) {
    if (auto set = (*ready)->set_all(limits); !set) return std::unexpected(std::move(set.error()));
    return std::move(*ready);
  }
  auto made = [&] {
    const std::lock_guard alone(place.mutex);
    return place.groups->make(cpu);
  }();
  if (made) {
    if (auto set = (*made)->set(limits); !set) made = std::unexpected(std::move(set.error()));
  }
  // Not before: neither this run's group nor its network should have to wait for it.
  sweep_once(place);
  return made;
}

void Place::keep(std::unique_ptr<Cgroup> group) {
  GroupStock& from = group->limits_cpu() ? *cpu_stock : *stock;
  if (from.wanted() && group->renew()) {
    group->open_counters();
    from.put(std::move(group));
  }
  from.replace();
}

void Place::replace_groups() {
  if (stock) stock->replace();
  if (cpu_stock) cpu_stock->replace();
}

Result<const std::vector<BpfProgram>*> LinuxBackend::filters(const SeccompOptions& options) {
  const std::lock_guard lock(mutex_);
  for (const auto& [known, compiled] : filters_) {
    if (known == options) return &compiled;
  }
  auto compiled = compile_seccomp(options);
  if (!compiled) return std::unexpected(std::move(compiled.error()));
  filters_.reserve(8);  // three switches: so that pointers stay valid
  return &filters_.emplace_back(options, std::move(*compiled)).second;
}

Capabilities LinuxBackend::capabilities() const {
  return {
      .backend = std::string(name()),
      .enforcement = enforcement_,
      .gaps =
          {
              "A fault in the kernel's own code can be exploited: all sandboxes share the kernel.",
              "Programs can learn the host's kernel version, processor and load.",
          },
  };
}

Result<Plan> LinuxBackend::plan(const Request& request, const Limits& limits) const {
  auto plan = sandbox_plan(request, limits);
  if (!plan) return std::unexpected(std::move(plan.error()));
  auto path = find_inside(request, **plan);
  if (!path) return std::unexpected(std::move(path.error()));
  Plan described = plan::describe(**plan);
  described.steps.back().detail = *std::move(path);  // "execute"
  return described;
}

Result<void> LinuxBackend::keep_ready(const PoolOptions& options, Clock& clock) {
  auto pool = CellPool::start(*this, options, clock);
  if (!pool) return std::unexpected(std::move(pool.error()));
  pool_ = std::move(*pool);
  return {};
}

void LinuxBackend::sweep_once(Place& place) {
  if (place.sweep) std::call_once(place.swept, place.sweep);
}

LinuxBackend::~LinuxBackend() {
  // What is put away uses all the rest.
  pool_.reset();
  if (keeper_) keeper_->finish();
}

void LinuxBackend::retire() {
  if (pool_) pool_->end();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, place] : places_) sweep_once(*place);  // where nothing was run
  }
  spawner_->retire();
}

void LinuxBackend::put_away(std::unique_ptr<Cell> cell) {
  if (!cell) return;
  if (pool_) return pool_->put_away(std::move(cell));
  // Who makes them faster than they can be ended has to do his part.
  constexpr int kMost = 2;
  if (put_away_.fetch_add(1) >= kMost) {
    cell.reset();
    --put_away_;
    return;
  }
  keeper_->post([this, cell = std::shared_ptr<Cell>(std::move(cell))]() mutable {
    cell.reset();
    --put_away_;
  });
}

bool LinuxBackend::makes_network_ahead(const plan::SandboxPlan& plan, const Place& place) const {
  return place.host.privileged && plan.network != Network::host && !weakened_.nothing_ahead;
}

Result<std::unique_ptr<supervise::Child>> LinuxBackend::prepare(const Request& request,
                                                                const Limits& limits) {
  auto plan = sandbox_plan(request, limits);
  if (!plan) return std::unexpected(std::move(plan.error()));
  auto place = place_for(request.cgroup_parent);
  const bool ready = place && pool_ && pool_->has(**place, *plan);
  if (place && !ready && makes_network_ahead(**plan, **place)) networks_->expect();
  return std::make_unique<LinuxChild>(*this, std::move(*plan));
}

}  // namespace linux_backend

Result<std::unique_ptr<Manager>> linux_manager() {
  auto backend = linux_backend::LinuxBackend::make();
  if (!backend) return std::unexpected(std::move(backend.error()));
  return std::make_unique<supervise::SupervisingManager>(std::move(*backend));
}

}  // namespace cordon
