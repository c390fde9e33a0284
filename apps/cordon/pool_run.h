// Whether a run goes through the user's pool, and how.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cordon/error.h"
#include "cordon/manager.h"
#include "pool_backend.h"
#include "run_options.h"
#include "session.h"
#include "signals.h"

namespace cordon::app {

// A place in a pool for one run.
struct PooledRun {
  std::unique_ptr<Manager> manager;
  std::shared_ptr<pool::Fate> fate;

  // The outcome that the command tells of: of a run whose pool went away, that and nothing else.
  [[nodiscard]] Outcome judged(Outcome outcome) const;
};

// A connection to the pool that the run may go through, made as early as possible: the service
// looks at who connects while the command does the rest.
struct PoolContact {
  TimePoint since;
  Result<pool::Channel> channel;
};
// Nothing: such a run goes through no pool.
[[nodiscard]] std::optional<PoolContact> contact_pool(const RunOptions& options);

struct PoolEntry {
  std::optional<PooledRun> run{};  // none: there is no pool, or not for this run, which takes the
                                   // usual way
  std::string note{};              // why a pool that there is does not run it
};

// Waits for a place, but never longer than the run itself may take. Error: `--pool only`, and there
// is none. `block` holds back the signals that are for the run.
[[nodiscard]] Result<PoolEntry> enter_pool(const RunOptions& options, Streams streams,
                                           const SignalBlock& block,
                                           std::optional<PoolContact> contact);

}  // namespace cordon::app
