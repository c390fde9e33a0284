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
  [[nodiscard]] Result<Plan> plan(const Request& request, const Limits& limits) const override;
  [[nodiscard]] Result<std::unique_ptr<supervise::Child>> prepare(const Request& request,
                                                                  const Limits& limits) override;

 private:
  [[nodiscard]] static Result<void> check(const Request& request, const Limits& limits);

  const bool use_pidfd_;
};

}  // namespace cordon::posix
