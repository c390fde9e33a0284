// Programs beside the main one of a container, by `runsc exec`: as restricted, and on the same
// kernel of gVisor.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>
#include <utility>

#include "backend/gvisor/sandbox.h"
#include "backend/gvisor/threads.h"
#include "cordon/request.h"
#include "plan/sandbox_plan.h"
#include "supervise/backend.h"

namespace cordon::gvisor_backend {

// What everybody inside a container shares.
struct Inside {
  std::shared_ptr<Sandbox> sandbox;
  Request request;         // of the main program
  plan::SandboxPlan plan;  // … and its
  Threads& threads;
  // Held shared by who starts something, alone by who makes a checkpoint.
  std::shared_mutex gate{};
};

// What a request for a program inside asks for beyond what the container has. Errors: not_permitted
// (more than it has), unsupported (what gVisor cannot do for one program of several); both name the
// field.
[[nodiscard]] Result<void> check_inside(const Request& request, const Limits& limits,
                                        const Inside& inside);

class ExecBackend final : public supervise::Backend {
 public:
  explicit ExecBackend(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}
  [[nodiscard]] std::string_view name() const override { return "gvisor"; }
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] Result<Plan> plan(const Request& request, const Limits& limits) const override;
  [[nodiscard]] Result<std::unique_ptr<supervise::Child>> prepare(const Request& request,
                                                                  const Limits& limits) override;

 private:
  const std::shared_ptr<Inside> inside_;
};

}  // namespace cordon::gvisor_backend
