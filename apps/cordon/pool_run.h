// Whether a run goes through the user's pool, and how.
#pragma once

#include <memory>
#include <optional>

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

// Nothing: there is no pool, or not for this run; it takes the usual way. Error: `--pool only`, and
// there is none. `block` holds back the signals that are for the run.
[[nodiscard]] Result<std::optional<PooledRun>> enter_pool(const RunOptions& options,
                                                          Streams streams,
                                                          const SignalBlock& block);

}  // namespace cordon::app
