#include "backend/linux/nest.h"

#include <algorithm>
#include <utility>

#include "backend/linux/inside_request.h"
#include "backend/linux/secret_parts.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

// So many processes wait at the most, and once there are only a few of them others are made: a
// program that begins should seldom share the processors with that.
constexpr std::size_t kReady = 8;
constexpr std::size_t kFew = 2;

constexpr std::string_view kGone =
    "the process that starts programs in this sandbox was killed, so no other can be started in it";

// Programs in one sandbox are told apart, counted and ended by their groups alone.
Result<void> can_nest(const Place& place) {
  const plan::HostCapabilities& host = place.host;
  for (const plan::Feature* const needed :
       {&host.cgroup_memory, &host.cgroup_pids, &host.cgroup_cpu}) {
    if (place.groups && needed->works) continue;
    return base::fail(ErrorCode::unsupported, "cgroup",
                      "a long-lived sandbox needs control groups, to tell the programs in it "
                      "apart: " +
                          needed->why + (needed->fix.empty() ? "" : "; " + needed->fix));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Nest>> Nest::make(std::shared_ptr<LinuxBackend> backend, Request request) {
  if (auto ok = validate(request); !ok) return std::unexpected(std::move(ok.error()));
  auto place = backend->place_for(request.cgroup_parent);
  if (!place) return std::unexpected(std::move(place.error()));
  if (auto can = can_nest(**place); !can) return std::unexpected(std::move(can.error()));
  if (auto ok = check_main(request); !ok) return std::unexpected(std::move(ok.error()));
  std::shared_ptr<Nest> nest(new Nest(std::move(backend), std::move(request), **place));
  if (auto made = nest->set_up(); !made) return std::unexpected(std::move(made.error()));
  return nest;
}

Result<void> Nest::set_up() {
  auto plan = backend_->sandbox_plan(request_, request_.limits);
  if (!plan) return std::unexpected(std::move(plan.error()));
  plan_ = std::move(*plan);
  auto secrets = open_secrets(request_);
  if (!secrets) return std::unexpected(std::move(secrets.error()));
  if (backend_->makes_network_ahead(*plan_, place_)) backend_->networks().expect();

  CgroupLimits limits = limits_while_set_up(plan_->groups);
  if (limits.processes) ++*limits.processes;  // the nursery
  processes_ = limits.processes;
  auto group = LinuxBackend::make_group(place_, limits, true);
  if (!group) return std::unexpected(std::move(group.error()));
  auto inner = (*group)->subdivide();
  if (!inner) return std::unexpected(std::move(inner.error()));
  groups_ = std::move(*inner);

  auto cell = Cell::make(*backend_, place_, *plan_, limits,
                         {.pinned = &request_,
                          .secrets = has_secret_files(request_) ? &*secrets : nullptr,
                          .nursery = true},
                         {.group = std::move(*group)});
  if (!cell) return std::unexpected(std::move(cell.error()));
  cell_ = std::move(*cell);
  request_.secrets.clear();
  return {};
}

Nest::~Nest() {
  end();
  ready_.clear();
  kept_.clear();
  cell_.reset();
}

void Nest::keep(std::unique_ptr<Cgroup> group) {
  if (ended_ || !group->renew()) return;
  group->open_counters();
  const std::lock_guard lock(stock_);
  if (!ended_ && kept_.size() < kReady) kept_.push_back(std::move(group));
}

Result<std::unique_ptr<Cgroup>> Nest::make_group(const CgroupLimits& limits) {
  std::unique_ptr<Cgroup> group;
  {
    const std::lock_guard lock(stock_);
    if (!kept_.empty()) {
      group = std::move(kept_.back());
      kept_.pop_back();
    }
  }
  if (!group) {
    auto made = groups_->make();
    if (!made) return made;
    group = std::move(*made);
  }
  if (auto set = group->set_all(limits); !set) return std::unexpected(std::move(set.error()));
  return group;
}

std::optional<Error> Nest::refused() const {
  if (ended_) return Error{ErrorCode::wrong_state, "start", 0, "the sandbox has ended"};
  if (!cell_->sandbox().program_ended()) return std::nullopt;
  return Error{ErrorCode::wrong_state, "start", 0, std::string(kGone)};
}

Result<Nest::Hatched> Nest::hatch(const plan::SandboxPlan& plan, const CgroupLimits& limits,
                                  int terminal, bool may_be_ahead) {
  if (may_be_ahead && terminal < 0 && plan.unix_sockets == plan_->unix_sockets) {
    // Whoever finds one does not wait for another that is being made.
    const std::lock_guard lock(stock_);
    if (auto why = refused()) return std::unexpected(*std::move(why));
    auto ready = take_ready(limits);
    if (!ready) return std::unexpected(std::move(ready.error()));
    usual_ = limits;
    // The first may be the only one.
    if (++asked_ > 1 && ready_.size() < kFew) refill();
    if (*ready) return Hatched{.cell = std::move(*ready), .ahead = true};
  }
  const std::lock_guard lock(mutex_);
  if (auto why = refused()) return std::unexpected(*std::move(why));
  auto made = make(plan, limits, terminal);
  if (!made) return std::unexpected(std::move(made.error()));
  return Hatched{.cell = std::move(*made)};
}

Result<std::unique_ptr<Cell>> Nest::make(const plan::SandboxPlan& plan, const CgroupLimits& limits,
                                         int terminal) {
  auto group = make_group(limits);
  if (!group) return std::unexpected(std::move(group.error()));
  auto made = Cell::make_inside(*backend_, *cell_, plan, std::move(*group), terminal);
  if (made) {
    (*made)->leave_group_to([weak = weak_from_this()](std::unique_ptr<Cgroup> left) {
      if (const auto nest = weak.lock()) nest->keep(std::move(left));
    });
    return made;
  }
  // That says more than what was seen of it.
  if (auto why = refused()) return std::unexpected(*std::move(why));
  return made;
}

Result<std::unique_ptr<Cell>> Nest::take_ready(const CgroupLimits& limits) {
  while (!ready_.empty()) {
    std::unique_ptr<Cell> cell = std::move(ready_.back());
    ready_.pop_back();
    if (auto allowed = allow(ready_.size() + (refilling_ ? 1 : 0)); !allowed) {
      return std::unexpected(std::move(allowed.error()));
    }
    if (cell->sandbox().program_ended()) continue;
    if (cell->group()->set_all(limits)) return cell;
  }
  return nullptr;
}

Result<void> Nest::allow(std::size_t waiting) {
  if (!processes_) return {};
  return cell_->group()->set({.processes = *processes_ + waiting});
}

void Nest::refill() {
  constexpr std::uint64_t kLittle = std::uint64_t{16} << 20;
  if (refilling_ || plan_->groups.memory_bytes.value_or(kLittle) < kLittle) return;
  refilling_ = true;
  backend_->keeper().post([weak = weak_from_this()] {
    if (const auto nest = weak.lock()) nest->make_ready();
  });
}

void Nest::make_ready() {
  for (;;) {
    const std::lock_guard alone(mutex_);
    CgroupLimits limits;
    {
      const std::lock_guard lock(stock_);
      const std::size_t waiting = ready_.size();
      refilling_ = !ended_ && cell_ && waiting < kReady && allow(waiting + 1).has_value();
      if (!refilling_) return;
      limits = usual_;  // with others it is of use too, but there is more to do then
    }
    auto made = make(*plan_, limits, -1);
    if (made) (*made)->group()->open_counters();
    const std::lock_guard lock(stock_);
    if (!made) {
      // Who wants one hears why.
      refilling_ = false;
      (void)allow(ready_.size());
      return;
    }
    ready_.push_back(std::move(*made));
  }
}

void Nest::furnish(Request& request) const {
  request.root = request_.root;
  request.grants = request_.grants;
  for (const EnvVar& variable : request_.env) {
    if (std::ranges::find(request.env, variable.name, &EnvVar::name) == request.env.end()) {
      request.env.push_back(variable);
    }
  }
}

Result<SharedPlan> Nest::plan_for(const Request& request, const Limits& limits,
                                  bool is_main) const {
  if (!is_main) {
    if (auto ok = check_inside(request, limits, request_); !ok) {
      return std::unexpected(std::move(ok.error()));
    }
  }
  return plan_inside(*plan_, request, limits, is_main, place_.host);
}

void Nest::end() {
  const std::lock_guard lock(ending_);
  if (ended_.exchange(true) || !cell_) return;
  cell_->sandbox().kill();
  cell_->group()->kill();
}

void Nest::close() {
  end();
  std::vector<std::unique_ptr<Cell>> ready;
  std::vector<std::unique_ptr<Cgroup>> kept;
  std::unique_ptr<Cell> cell;
  {
    const std::scoped_lock lock(mutex_, ending_, stock_);
    kept = std::move(kept_);
    ready = std::move(ready_);
    cell = std::move(cell_);
    groups_.reset();
  }
  // Its init can be waited for when all others were reaped, which the keeper may have to do: it
  // must not wait for a lock of ours.
  ready.clear();
  kept.clear();
  cell.reset();
  backend_->keeper().finish();
}

std::string Nest::broken() const {
  // A program that is being made may take its time; who asks does not wait for it.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !cell_ || !cell_->sandbox().program_ended()) return {};
  // Asked in this order: who ends the sandbox says so before.
  return ended_ ? std::string() : std::string(kGone);
}

}  // namespace cordon::linux_backend
