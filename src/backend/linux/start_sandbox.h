// From a script to a parked sandbox, and from a letter to a running program: sends it, and hears
// what the sandbox's processes report.
#pragma once

#include <expected>
#include <string>

#include "backend/linux/letterbox.h"
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

// Returns when its program waits for a letter, and its init for a word. On failure nothing is left
// running.
[[nodiscard]] std::expected<Sandbox, StartFailure> park_sandbox(SpawnerLink& spawner,
                                                                ScriptBuilder& script,
                                                                StatusSocket& status,
                                                                Letterbox& letterbox);

// The same for one process that a nursery makes, whose own pid is `nursery` and who gets its
// scripts by `door`. One at a time for each nursery: only then is a process known that has died
// before it could say who it is.
[[nodiscard]] std::expected<Sandbox, StartFailure> park_hatched(const Sandbox& nursery,
                                                                Letterbox& door,
                                                                ScriptBuilder& script,
                                                                StatusSocket& status,
                                                                Letterbox& letterbox);

// Returns when the program was executed.
[[nodiscard]] std::expected<void, StartFailure> execute_in_sandbox(ScriptBuilder& letter,
                                                                   StatusSocket& status,
                                                                   Letterbox& letterbox);

}  // namespace cordon::linux_backend
