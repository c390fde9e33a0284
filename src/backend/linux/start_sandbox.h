// From a script to a running program: sends it, hears what its processes report, has the parked
// sandbox verified, releases it.
#pragma once

#include <functional>

#include "backend/linux/sandbox.h"
#include "backend/linux/script_builder.h"
#include "backend/linux/spawner_link.h"
#include "backend/linux/status_socket.h"
#include "cordon/error.h"

namespace cordon::linux_backend {

// Why a sandbox did not come to run.
struct StartFailure {
  Error error;
  bool not_executed = false;  // everything was in place, but exec failed with error.os_error
  bool died = false;          // its processes ended without a word: killed, perhaps for memory
  std::string argument{};     // of the step that failed
};

using StartResult = std::expected<Sandbox, StartFailure>;

// `verify` looks at the parked sandbox; its error ends it. On failure nothing is left running.
[[nodiscard]] StartResult start_sandbox(SpawnerLink& spawner, ScriptBuilder& script,
                                        StatusSocket& status,
                                        const std::function<Result<void>(const Sandbox&)>& verify);

}  // namespace cordon::linux_backend
