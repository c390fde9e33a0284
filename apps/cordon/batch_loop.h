// The middle of a batch: takes requests, runs so many at once, writes results in order.
#pragma once

#include <cstdint>
#include <optional>

#include "batch_input.h"
#include "batch_options.h"
#include "batch_output.h"
#include "batch_progress.h"
#include "batch_run.h"
#include "batch_tally.h"
#include "cordon/error.h"

namespace cordon::app {

struct BatchWork {
  const BatchOptions& options;
  const BatchShared& shared;
  const BatchInput& input;
  LineReader& requests;  // from the first that is to be done
  const ResultsFile& results;
  ProgressDisplay& display;
  Tally& tally;
  std::uint64_t total = 0;  // requests of the input
  std::uint64_t done = 0;   // by an earlier batch
};

struct BatchEnd {
  int signal = 0;                  // that stopped it; 0: none
  std::optional<Error> failure{};  // it could not go on
  bool recorded = true;            // all that was to be recorded
  std::uint64_t written = 0;       // results of this batch
  Progress progress{};
};

// One thread owns the order of things: a coroutine for each job takes the next request, and awaits
// what others do for it: the start of the program, its events, its record. SIGINT, SIGTERM and
// SIGHUP stop it: nothing new is begun, what runs is ended and has no result, and what is in order
// is written. A second one does not wait for any of that.
[[nodiscard]] BatchEnd run_batch(const BatchWork& work);

}  // namespace cordon::app
