#include "pool_run.h"

#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "make_manager.h"
#include "outcome/decide.h"
#include "pool_client.h"
#include "pool_request.h"
#include "supervise/supervising_manager.h"

namespace cordon::app {
namespace {

// Who can go another way does not wait for long.
constexpr Duration kShortPatience = std::chrono::seconds(1);
constexpr Duration kLongPatience = std::chrono::minutes(1);

std::size_t environment_size() {
  std::size_t size = 0;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    size += std::string_view(*entry).size();
  }
  return size;
}

// Empty: it can.
std::string why_not_pooled(const RunOptions& options, Streams streams) {
  if (options.backend == Backend::posix) return "the posix backend has no pool";
  if (!options.require.empty()) return "--require needs a plan before the run";
  if (options.workdir.wanted) return "--workdir needs a sandbox of its own";
  if (streams == Streams::terminal) return "a program with a terminal is not run by a pool";
  if (environment_size() > pool::kMostBytes / 2) return "its environment is too large";
  // It will be told why, and in the words of every run.
  if (!validate(options.request)) return "the request is not right";
  return pool::why_not_carried(options.request);
}

Result<PooledRun> make_pooled(pool::Channel channel) {
  auto fate = std::make_shared<pool::Fate>();
  auto backend = std::make_unique<pool::PoolBackend>(std::move(channel), fate);
  auto manager = std::make_unique<supervise::SupervisingManager>(std::move(backend));
  if (auto set = manager->set_default_limits(usual_limits(Backend::linux_sandbox)); !set) {
    return std::unexpected(std::move(set).error());
  }
  return PooledRun{.manager = std::move(manager), .fate = std::move(fate)};
}

}  // namespace

Outcome PooledRun::judged(Outcome outcome) const {
  if (!fate->lost) return outcome;
  return outcome::failed_to_start(outcome.id, std::move(outcome.backend),
                                  std::move(outcome.enforcement), *fate->lost);
}

Result<std::optional<PooledRun>> enter_pool(const RunOptions& options, Streams streams,
                                            const SignalBlock& block) {
  if (options.pool == PoolUse::off) return std::nullopt;
  const bool only = options.pool == PoolUse::only;
  if (const std::string why = why_not_pooled(options, streams); !why.empty()) {
    if (!only) return std::nullopt;
    return base::fail(ErrorCode::unsupported, "pool",
                      concat("--pool only: ", why, "; leave it out or use --pool auto"));
  }
  auto channel = pool::reserve(only ? kLongPatience : kShortPatience, block.signals());
  if (!channel) {
    if (!only) return std::nullopt;
    Error error = std::move(channel).error();
    // It is not the program that is missing or not permitted.
    error.code = ErrorCode::resource_exhausted;
    error.message = concat("--pool only: ", error.message);
    return std::unexpected(std::move(error));
  }
  auto pooled = make_pooled(*std::move(channel));
  if (!pooled) return std::unexpected(std::move(pooled).error());
  return *std::move(pooled);
}

}  // namespace cordon::app
