// Plans that were made before: a plan is a pure function of what it is made from, so who asks the
// same again gets the same. Thread-safe.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "cordon/error.h"
#include "cordon/request.h"
#include "plan/host.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

using SharedPlan = std::shared_ptr<const plan::SandboxPlan>;

class PlanCache {
 public:
  // As plan::make_sandbox_plan(). `host` must be the same, and in the same place, in every call
  // that is to get what another got.
  [[nodiscard]] Result<SharedPlan> plan(const Request& request, const Limits& limits,
                                        const plan::Caller& caller,
                                        const plan::HostCapabilities& host);

 private:
  struct Known {
    Request request;  // without what is private to a run
    Limits limits;
    plan::Caller caller;
    const plan::HostCapabilities* host;
    SharedPlan plan;
  };
  std::mutex mutex_;
  std::list<Known> known_;  // the last one that was asked for comes first
};

}  // namespace cordon::linux_backend
