// Sandboxed processes: namespaces, Landlock, seccomp and control groups, all in place and verified
// before the program's first instruction.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/linux/caller.h"
#include "backend/linux/cell_pool.h"
#include "backend/linux/cgroup.h"
#include "backend/linux/identity.h"
#include "backend/linux/keeper.h"
#include "backend/linux/network_stock.h"
#include "backend/linux/plan_cache.h"
#include "backend/linux/root_template.h"
#include "backend/linux/script_builder.h"
#include "backend/linux/seccomp.h"
#include "backend/linux/spawner_link.h"
#include "backend/linux/stock.h"
#include "plan/sandbox_plan.h"
#include "supervise/backend.h"

namespace cordon::linux_backend {

// Guards that a test switches off, to see that what they guard against then happens. Not reachable
// from any public interface.
struct Weakened {
  std::vector<std::string> left_out{};  // steps of the script by name: "landlock", "seccomp" …
  std::vector<std::string> left_out_inside{};  // the same, of what a nursery makes
  bool verify = true;
  // Sees each script before it is sent: the set-up of a sandbox, and the letter to its program.
  std::function<void(ScriptBuilder&)> script{};
  bool nothing_ahead = false;  // roots and networks are made by that script
  bool no_groups = false;      // as if no control group could be made
  bool unclean = false;        // what a tenant's run has left is used again as it is
};

// So many may be in a group while a sandbox is set up: the set-up process, init and the program.
inline constexpr std::uint64_t kProcessesOfSetup = 3;

using GroupStock = Stock<std::unique_ptr<Cgroup>>;

// Where a request's control groups are made, and what the host can do there.
struct Place {
  std::unique_ptr<CgroupParent> groups;  // null: none can be made
  std::mutex mutex;                      // for `groups`
  plan::HostCapabilities host;
  std::function<void()>
      sweep;  // what others have left behind; begun by the first run, or at the end
  std::once_flag swept;
  std::optional<GroupStock> stock;      // without and …
  std::optional<GroupStock> cpu_stock;  // with a limited processor share

  // The group of a run that is over: it serves another one, or is removed. Thread-safe.
  void keep(std::unique_ptr<Cgroup> group);
  // Of those in stock that were taken. Thread-safe.
  void replace_groups();
};

class LinuxBackend final : public supervise::Backend {
 public:
  ~LinuxBackend() override;
  LinuxBackend(const LinuxBackend&) = delete;
  LinuxBackend& operator=(const LinuxBackend&) = delete;
  // Error: unsupported where sandboxes cannot be made, with the reason and what to do.
  [[nodiscard]] static Result<std::unique_ptr<LinuxBackend>> make(Weakened weakened = {});
  // Keeps sandboxes ready from now on. Once, before anything is launched.
  [[nodiscard]] Result<void> keep_ready(const PoolOptions& options, Clock& clock = real_clock());

  [[nodiscard]] std::string_view name() const override { return "linux"; }
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] Result<Plan> plan(const Request& request, const Limits& limits) const override;
  [[nodiscard]] Result<std::unique_ptr<supervise::Child>> prepare(const Request& request,
                                                                  const Limits& limits) override;
  void retire() override;

  // --- for LinuxChild ---

  [[nodiscard]] Result<Place*> place_for(const std::string& cgroup_parent) const;
  [[nodiscard]] Result<SharedPlan> sandbox_plan(const Request& request, const Limits& limits) const;
  // With these limits in place; `cpu`: one for the share of the processors may be set later.
  [[nodiscard]] static Result<std::unique_ptr<Cgroup>> make_group(Place& place,
                                                                  const CgroupLimits& limits,
                                                                  bool cpu = false);
  [[nodiscard]] Result<const std::vector<BpfProgram>*> filters(const SeccompOptions& options);
  [[nodiscard]] const Weakened& weakened() const { return weakened_; }
  [[nodiscard]] Keeper& keeper() { return *keeper_; }
  [[nodiscard]] SpawnerLink& spawner() { return *spawner_; }
  [[nodiscard]] Identities& identities() { return *identities_; }
  [[nodiscard]] Stock<base::Fd>& networks() { return *networks_; }
  // Whether what such a run needs may be made ahead of it.
  [[nodiscard]] bool makes_network_ahead(const plan::SandboxPlan& plan, const Place& place) const;
  [[nodiscard]] RootTemplates& roots() { return *roots_; }
  [[nodiscard]] CellPool* pool() { return pool_.get(); }  // null: none
  // Ends it when there is time for that; at once if too many wait for it. Null: nothing.
  void put_away(std::unique_ptr<Cell> cell);

 private:
  LinuxBackend() = default;
  static void sweep_once(Place& place);

  Weakened weakened_;
  Enforcement enforcement_;  // of a run that asks for every limit
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<Place>> places_;  // by Request::cgroup_parent
  mutable Callers callers_;
  mutable PlanCache plans_;
  std::vector<std::pair<SeccompOptions, std::vector<BpfProgram>>> filters_;
  std::atomic<int> put_away_ = 0;   // that have not ended yet
  std::unique_ptr<Keeper> keeper_;  // outlives what uses it
  std::unique_ptr<SpawnerLink> spawner_;
  std::unique_ptr<Identities> identities_;
  std::optional<Stock<base::Fd>> networks_;
  std::unique_ptr<RootTemplates> roots_;
  std::unique_ptr<CellPool> pool_;  // uses all of these
};

}  // namespace cordon::linux_backend
