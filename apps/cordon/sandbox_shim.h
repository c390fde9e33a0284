// The supervisor of one sandbox: a process of its own that outlives the command which made it. It
// owns the Sandbox, keeps the output of its programs, and serves whoever of the same user connects
// to its socket. When it dies, everything inside dies with it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cordon/error.h"
#include "cordon/request.h"
#include "recorded_run.h"
#include "sandbox_store.h"

namespace cordon::app::sandbox {

struct ShimAsk {
  Claim claim;
  Record record;        // to begin with
  Request request;      // of the main program
  std::string image{};  // to restore from; empty: create
};

// Until the sandbox is at rest, or was removed. `ready` is called once the main program runs, with
// the record. Call it while there is but one thread. The record of the run, if there is one, hears
// of start and end. Error: the main program has not been started; nothing is left then.
[[nodiscard]] Result<void> supervise(ShimAsk ask, std::optional<RecordedRun>& run,
                                     const std::function<void(const Record&)>& ready);

}  // namespace cordon::app::sandbox
