// What may be done to a long-lived sandbox when, and what becomes of it: one table. Checks, error
// messages, the table and the picture in docs/sandboxes.md, and the tests of every legal and
// illegal transition are made from it. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cordon/error.h"
#include "cordon/sandbox.h"

namespace cordon::sandbox {

enum class Operation : std::uint8_t {
  create,
  restore,
  execute,
  connect,
  write_stdin,
  checkpoint,                // … and end
  checkpoint_leave_running,  // … and go on
  stop,
  remove,
  ls,
  ps,
  logs,
  main_ends,      // happens by itself
  engine_breaks,  // the same
};
inline constexpr std::size_t kOperations = 14;
inline constexpr std::size_t kStates = 5;

inline constexpr std::array<SandboxState, kStates> kAllStates = {
    SandboxState::initialized, SandboxState::running, SandboxState::checkpointed,
    SandboxState::stopped, SandboxState::failed};

struct Effect {
  enum class Kind : std::uint8_t {
    refused,  // for what happens by itself: cannot happen
    done,
    nothing,  // is so already: succeeds
  };
  Kind kind = Kind::refused;
  SandboxState success{};
  SandboxState failure{};

  friend constexpr bool operator==(const Effect&, const Effect&) = default;
};

struct Row {
  Operation operation{};
  std::string_view name;                // as in messages and in the docs
  std::array<Effect, kStates> effects;  // in the order of SandboxState
};

[[nodiscard]] const std::array<Row, kOperations>& table();
[[nodiscard]] Effect effect(Operation operation, SandboxState state);
[[nodiscard]] std::string_view to_string(Operation operation);
// Not asked for by anybody.
[[nodiscard]] constexpr bool happens_by_itself(Operation operation) {
  return operation == Operation::main_ends || operation == Operation::engine_breaks;
}

// "create, restore, remove, ls": everything that is not refused in this state.
[[nodiscard]] std::string possible_in(SandboxState state);
// The error of an operation that the table refuses. `why` is how the state came about; may be
// empty.
[[nodiscard]] Error refusal(Operation operation, SandboxState state, std::string_view id,
                            std::string_view why);

}  // namespace cordon::sandbox
