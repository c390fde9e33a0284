#include "pool_run.h"

#include <unistd.h>

#include <algorithm>
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

// A service gives up on who is silent for longer than two seconds.
constexpr Duration kFresh = std::chrono::seconds(1);
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

// By its options alone. Empty: it can.
std::string why_not_asked(const RunOptions& options) {
  if (options.backend == Backend::posix) return "the posix backend has no pool";
  if (options.backend == Backend::gvisor) return "the gvisor backend has no pool";
  if (!options.require.empty()) return "--require needs a plan before the run";
  if (options.workdir.wanted) return "--workdir needs a sandbox of its own";
  return {};
}

// Empty: it can.
std::string why_not_pooled(const RunOptions& options, Streams streams) {
  if (std::string why = why_not_asked(options); !why.empty()) return why;
  if (streams == Streams::terminal) return "a program with a terminal is not run by a pool";
  if (environment_size() > pool::kMostBytes / 2) return "its environment is too large";
  // It will be told why, and in the words of every run.
  if (!validate(options.request)) return "the request is not right";
  return pool::why_not_carried(options.request);
}

// Who is to be done within a second has no use for a place that comes after it.
Duration patience_of(const RunOptions& options) {
  const Duration patience = options.pool == PoolUse::only ? kLongPatience : kShortPatience;
  const Duration timeout = options.request.timeout;
  return timeout > Duration{0} ? std::min(patience, timeout) : patience;
}

Result<PooledRun> make_pooled(std::shared_ptr<pool::Channel> channel) {
  auto fate = std::make_shared<pool::Fate>();
  auto backend = std::make_unique<pool::PoolBackend>(std::move(channel), fate);
  auto manager = std::make_unique<supervise::SupervisingManager>(std::move(backend));
  if (auto set = manager->set_default_limits(usual_limits(Backend::linux_sandbox)); !set) {
    return std::unexpected(std::move(set).error());
  }
  manager->start_loop();
  return PooledRun{.manager = std::move(manager), .fate = std::move(fate)};
}

// All of it but the wait for the answer is done while the service looks at who asks.
Result<PooledRun> take_place(std::optional<PoolContact> contact, Duration patience,
                             const SignalBlock& block) {
  const bool fresh = contact && real_clock().now() - contact->since < kFresh;
  auto connected = fresh ? std::move(contact->channel) : pool::connect();
  if (!connected) return std::unexpected(std::move(connected).error());
  const auto channel = std::make_shared<pool::Channel>(*std::move(connected));
  if (auto asked = pool::ask_for_place(*channel, patience); !asked) {
    return std::unexpected(std::move(asked).error());
  }
  auto pooled = make_pooled(channel);
  if (!pooled) return pooled;
  if (auto got = pool::await_place(*channel, patience, block.signals()); !got) {
    return std::unexpected(std::move(got).error());
  }
  return pooled;
}

}  // namespace

Outcome PooledRun::judged(Outcome outcome) const {
  if (!fate->lost) return outcome;
  return outcome::failed_to_start(outcome.id, std::move(outcome.backend),
                                  std::move(outcome.enforcement), *fate->lost);
}

std::optional<PoolContact> contact_pool(const RunOptions& options) {
  if (options.pool == PoolUse::off || !why_not_asked(options).empty()) return std::nullopt;
  return PoolContact{.since = real_clock().now(), .channel = pool::connect()};
}

Result<PoolEntry> enter_pool(const RunOptions& options, Streams streams, const SignalBlock& block,
                             std::optional<PoolContact> contact) {
  if (options.pool == PoolUse::off) return PoolEntry{};
  const bool only = options.pool == PoolUse::only;
  if (const std::string why = why_not_pooled(options, streams); !why.empty()) {
    if (!only) return PoolEntry{};
    return base::fail(ErrorCode::unsupported, "pool",
                      concat("--pool only: ", why, "; leave it out or use --pool auto"));
  }
  auto pooled = take_place(std::move(contact), patience_of(options), block);
  if (pooled) return PoolEntry{.run = *std::move(pooled)};
  Error error = std::move(pooled).error();
  if (!only) {
    const bool none = error.code == ErrorCode::not_found;
    return PoolEntry{.note = none ? std::string() : std::move(error.message)};
  }
  // It is not the program that is missing or not permitted.
  error.code = ErrorCode::resource_exhausted;
  error.message = concat("--pool only: ", error.message);
  return std::unexpected(std::move(error));
}

}  // namespace cordon::app
