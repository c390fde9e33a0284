// Process groups and rlimits: what every Unix has.
#pragma once

#include "supervise/backend.h"

namespace cordon::posix {

class PosixBackend final : public supervise::Backend {
 public:
  // `use_pidfd`: off to behave as on a kernel without them (tests).
  explicit PosixBackend(bool use_pidfd);

  [[nodiscard]] std::string_view name() const override { return "posix"; }
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] Enforcement enforcement(const Request& request,
                                        const Limits& limits) const override;
  [[nodiscard]] Result<void> check(const Request& request, const Limits& limits) const override;
  [[nodiscard]] Result<Plan> plan(const Request& request, const Limits& limits) const override;
  [[nodiscard]] std::unique_ptr<supervise::Child> make_child() override;

 private:
  const bool use_pidfd_;
};

}  // namespace cordon::posix
