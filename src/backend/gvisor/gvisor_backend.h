// Programs on gVisor's kernel: what they call is served by a process of runsc, not by the host's
// kernel. Limits hold by control groups of ours, in which all of runsc is.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/gvisor/image_files.h"
#include "backend/gvisor/runsc.h"
#include "backend/gvisor/sandbox.h"
#include "backend/gvisor/threads.h"
#include "backend/linux/cgroup.h"
#include "plan/sandbox_plan.h"
#include "supervise/backend.h"

namespace cordon::gvisor_backend {

// Where the groups of a request are made.
struct Place {
  std::unique_ptr<linux_backend::CgroupParent> groups;  // null: none can be made
  std::mutex mutex;                                     // for `groups`
  plan::HostCapabilities host;
};

// For a sandbox that is part of something larger: where it is, what it goes on from, and who is
// told of it.
struct Role {
  std::string directory{};  // empty: one of its own
  std::string id{};         // runsc's name for it, unique on the host; empty: one of its own
  std::shared_ptr<OpenImage> image{};  // null: it begins anew
  std::function<void(std::shared_ptr<Sandbox>)> launched{};
};

class GvisorBackend final : public supervise::Backend {
 public:
  // Error: unsupported without runsc.
  [[nodiscard]] static Result<std::unique_ptr<GvisorBackend>> make(Role role = {});
  [[nodiscard]] static std::unique_ptr<GvisorBackend> make(Runsc runsc, Role role = {});
  ~GvisorBackend() override;
  GvisorBackend(const GvisorBackend&) = delete;
  GvisorBackend& operator=(const GvisorBackend&) = delete;

  [[nodiscard]] std::string_view name() const override { return "gvisor"; }
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] Result<Plan> plan(const Request& request, const Limits& limits) const override;
  [[nodiscard]] Result<std::unique_ptr<supervise::Child>> prepare(const Request& request,
                                                                  const Limits& limits) override;

  [[nodiscard]] Result<plan::SandboxPlan> sandbox_plan(const Request& request,
                                                       const Limits& limits) const;

  // For its children.
  [[nodiscard]] const Runsc& runsc() const { return runsc_; }
  [[nodiscard]] const Role& role() const { return role_; }
  [[nodiscard]] Result<Threads*> threads();
  // Null: the plan needs none.
  [[nodiscard]] Result<std::unique_ptr<linux_backend::Cgroup>> make_group(
      const std::string& cgroup_parent, const plan::GroupLimits& limits);

 private:
  GvisorBackend(Runsc runsc, Role role) : runsc_(std::move(runsc)), role_(std::move(role)) {}
  [[nodiscard]] Result<Place*> place_for(const std::string& cgroup_parent) const;

  const Runsc runsc_;
  const Role role_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<Place>> places_;  // by Request::cgroup_parent
  std::unique_ptr<Threads> threads_;                              // made by the first launch
};

}  // namespace cordon::gvisor_backend
