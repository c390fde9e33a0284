// One program in a process group of its own.
#pragma once

#include <sys/types.h>

#include <optional>

#include "backend/posix/exit_signal.h"
#include "base/fd.h"
#include "supervise/backend.h"

namespace cordon::posix {

// What holds for a run with these limits.
[[nodiscard]] Enforcement enforcement_of(const Limits& limits);

class PosixChild final : public supervise::Child {
 public:
  // `use_pidfd`: off to behave as on a kernel without them.
  PosixChild(bool use_pidfd, const Limits& limits) : use_pidfd_(use_pidfd), limits_(limits) {}
  ~PosixChild() override;

  [[nodiscard]] Result<void> launch(const supervise::LaunchSpec& spec) override;
  [[nodiscard]] int exit_fd() const override;
  [[nodiscard]] std::int64_t os_pid() const override { return pid_; }
  [[nodiscard]] int send(int signal, Reach reach) override;
  [[nodiscard]] std::optional<supervise::Ended> reap() override;
  [[nodiscard]] std::optional<supervise::Sample> sample() const override;
  [[nodiscard]] Enforcement enforcement() const override { return enforcement_of(limits_); }

 private:
  const bool use_pidfd_;
  const Limits limits_;
  pid_t pid_ = -1;  // also the group's id; ours until reaped
  bool reaped_ = false;
  base::Fd pidfd_;
  std::optional<ExitSignal> exit_signal_;  // without a pidfd
  std::uint64_t caller_peak_ = 0;          // resident bytes of the caller when it launched
};

}  // namespace cordon::posix
