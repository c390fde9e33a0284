#include <utility>

#include "backend/memory/memory_process.h"
#include "backend/memory/universe.h"
#include "cordon/memory.h"

namespace cordon::memory {
namespace {

Enforcement simulated() {
  const Guarantee kept{.level = Guarantee::Level::enforced, .by = "simulation", .note = ""};
  return {kept, kept, kept, kept, kept, kept, kept, kept};
}

}  // namespace

Universe::Universe(const Options& options)
    : simulation(options), clock(*this), enforcement(simulated()) {}

Manager::Manager(Options options) : universe_(std::make_shared<Universe>(options)) {}

Manager::~Manager() {
  {
    const Lock lock(universe_->simulation);
    universe_->closed = true;
  }
  for (const auto& process : universe_->table.running()) {
    static_cast<MemoryProcess&>(*process).abandon();
  }
}

void Manager::add(std::string name, Program program) {
  std::vector<Program> programs;
  programs.push_back(std::move(program));
  add_sequence(std::move(name), std::move(programs));
}

void Manager::add_sequence(std::string name, std::vector<Program> programs) {
  Universe::Entry entry;
  entry.programs.reserve(programs.size());
  for (Program& program : programs) {
    entry.programs.push_back(std::make_shared<const Program>(std::move(program)));
  }
  Lock lock(universe_->simulation);
  auto& place = universe_->programs[std::move(name)];
  // The old scripts hold functions of the caller: destroyed without the lock.
  lock.drop_later(std::make_shared<const Universe::Entry>(std::exchange(place, std::move(entry))));
}

void Manager::advance(Duration duration) {
  Lock lock(universe_->simulation);
  universe_->simulation.advance(lock, duration);
}

bool Manager::advance_to_next() {
  Lock lock(universe_->simulation);
  return universe_->simulation.advance_to_next(lock);
}

std::size_t Manager::live_programs() const {
  const Lock lock(universe_->simulation);
  return universe_->live;
}

Result<std::shared_ptr<Process>> Manager::create(Request request) {
  if (auto ok = validate(request); !ok) return std::unexpected(std::move(ok.error()));
  const Limits limits = with_defaults(request.limits, default_limits());
  const ProcessId id = universe_->table.next_id();
  auto process = std::make_shared<MemoryProcess>(universe_, id, std::move(request), limits);
  universe_->table.add(id, process);
  return process;
}

Result<Plan> Manager::plan(const Request& request) const {
  if (auto ok = validate(request); !ok) return std::unexpected(std::move(ok.error()));
  return Plan{.backend = "memory",
              .steps = {{"simulate", "the script added for " + request.program}},
              .enforcement = universe_->enforcement};
}

Result<std::shared_ptr<Process>> Manager::get(ProcessId id) const {
  return universe_->table.get(id);
}

std::vector<std::shared_ptr<Process>> Manager::list() const { return universe_->table.list(); }

Result<void> Manager::set_default_limits(const Limits& limits) {
  if (auto ok = validate(limits); !ok) return ok;
  const Lock lock(universe_->simulation);
  universe_->default_limits = limits;
  return {};
}

Limits Manager::default_limits() const {
  const Lock lock(universe_->simulation);
  return universe_->default_limits;
}

Capabilities Manager::capabilities() const {
  return {.backend = "memory",
          .enforcement = universe_->enforcement,
          .gaps = {"no real program runs: what a script does not say does not happen"}};
}

VirtualClock& Manager::clock() { return universe_->clock; }

// --- VirtualClock.

TimePoint VirtualClock::now() const { return universe_.simulation.now(); }
WallTime VirtualClock::wall_now() const { return universe_.simulation.wall_now(); }

void VirtualClock::sleep_until(TimePoint until) {
  Lock lock(universe_.simulation);
  (void)universe_.simulation.wait(lock, until, [] { return false; });
}

}  // namespace cordon::memory
