// Programs that the service of a pool runs, for the supervisor of the command: output, deadlines
// and the user's signals are the command's affair as ever; only the sandbox is the service's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pool_channel.h"
#include "supervise/backend.h"

namespace cordon::app::pool {

// What became of the connection; shared by whoever made the backend. Written under the process's
// lock, to be read when the process has ended.
struct Fate {
  std::optional<Error> lost;  // the service went away while the program ran
};

class PoolBackend final : public supervise::Backend {
 public:
  // For one run, on a connection that has been given a place.
  PoolBackend(std::shared_ptr<Channel> channel, std::shared_ptr<Fate> fate);
  ~PoolBackend() override;

  [[nodiscard]] std::string_view name() const override { return "linux"; }
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] Result<Plan> plan(const Request& request, const Limits& limits) const override;
  [[nodiscard]] Result<std::unique_ptr<supervise::Child>> prepare(const Request& request,
                                                                  const Limits& limits) override;

 private:
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<Fate> fate_;
};

// The end of a program as a supervisor of its own would have seen it. Pure.
[[nodiscard]] supervise::Ended ended_of(const Outcome& outcome);

}  // namespace cordon::app::pool
